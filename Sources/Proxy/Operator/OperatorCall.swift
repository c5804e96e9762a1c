import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// One request to `/-/`, with its path parameters, query and body read and checked by openapi.json.
struct OperatorCall: Sendable {
    let request: Request
    /// The values of the `{name}` segments of the route's pattern.
    let parameters: [String: String]
    /// The parameters of the query.
    let query: [String: String]
    /// The body; an empty object for a request without one.
    let body: JSONValue
    /// Whether the caller waits no longer; see ``Reply/clientHasLeft``.
    var clientHasLeft: @Sendable () -> Bool = { false }

    /// Checks the query and the body. Below `/-/` alone, such as for a page of the dashboard, other
    /// parameters are allowed, and a body is not read.
    init(
        _ request: Request, _ route: OperatorRoute, parameters: [String: String]
    ) throws(Problem) {
        self.request = request
        self.parameters = parameters
        guard route.isAPI else {
            query = Dictionary(try RequestDescription.pairs(request.query)) { first, _ in first }
            body = .object([])
            return
        }
        let description = RequestDescription(route)
        query = try description.checkedQuery(request.query)
        body = route.method == .get ? .object([]) : try description.checkedBody(request.body)
    }

    /// A path parameter; the route's pattern must have it.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// A whole number in the query; nil if it is not there. Throws if it is not in `range`.
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw .invalid(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).",
                parameter: name)
        }
        return value
    }

    /// Whether a boolean in the query is on; off if it is not there.
    func isOn(_ name: String) -> Bool { query[name].flatMap { BooleanText.value($0) } ?? false }

    /// The number of elements of a page.
    func limit() throws(Problem) -> Int {
        try number("limit", in: 1...Limits.pageElementsMax) ?? Limits.pageElements
    }

    /// The `after` of a list; nil for its beginning.
    func cursor() throws(Problem) -> String? {
        guard let text = query["after"], !Cursor.isCursor(text) else { return query["after"] }
        throw .invalid(Self.noCursor, parameter: "after")
    }

    /// The `after` of the body; nil for the beginning.
    func bodyCursor() throws(Problem) -> String? {
        guard let text = body["after"]?.string else { return nil }
        if Cursor.isCursor(text) { return text }
        throw .invalid(Self.noCursor, pointer: "/after")
    }

    private static let noCursor = "after must be the next of the page before."

    /// The address of something below `/-/api/v1/`, for the identity that the request names.
    func location(_ path: String) -> String {
        let identity = query["identity"].map { "?identity=\(PercentCoding.encode($0))" }
        return "/-/api/v1/\(path)\(identity ?? "")"
    }

    /// The member `revision` of the body.
    func revision() throws(Problem) -> Int {
        guard let revision = body["revision"]?.integer.flatMap({ Int(exactly: $0) }) else {
            throw .invalid(
                "revision must be the whole number that the operation came with.",
                pointer: "/revision")
        }
        return revision
    }
}

extension Response {
    /// A JSON answer of the operator API, which caches may not keep.
    /// - Parameter location: where what was made or begun is, for 201 and 202.
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, location: String? = nil
    ) -> Response {
        var fields: HTTPFields = [
            .contentType: "application/json", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        fields[.location] = location
        return Response(status: status, headerFields: fields, body: Array(value.text.utf8))
    }
}
