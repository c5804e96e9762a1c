import HTTPMessage
import HTTPTypes
import TablesProtocol

/// One request to `/-/`, with its path parameters and query read.
struct OperatorCall: Sendable {
    let request: Request
    /// What stood for `{name}` in the route's pattern.
    let parameters: [String: String]
    /// The query's first value for each name.
    let query: [String: String]
    /// Whether the caller waits no longer; see ``Reply/isLeft``.
    var isLeft: @Sendable () -> Bool = { false }

    /// Reads the query.
    init(_ request: Request, parameters: [String: String]) throws(Problem) {
        self.request = request
        self.parameters = parameters
        var query: [String: String] = [:]
        for pair in (request.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1] : ""
            guard let name = PercentCoding.decode(parts[0], plusIsSpace: true),
                let text = PercentCoding.decode(value, plusIsSpace: true)
            else { throw .invalid("The query holds a percent sequence that is not UTF-8 text.") }
            if query[name] == nil { query[name] = text }
        }
        self.query = query
    }

    /// A path parameter; the route's pattern guarantees it.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// A whole number of the query within bounds.
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw .invalid(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// How many elements a page shall have.
    func limit() throws(Problem) -> Int {
        try number("limit", in: 1...Limits.pageElementsMax) ?? Limits.pageElements
    }

    /// The body as a JSON object; an empty body is an empty object.
    func body() throws(Problem) -> JSONValue {
        if request.body.isEmpty { return .object([]) }
        do {
            let value = try JSONValue(parsing: request.body)
            guard case .object = value else {
                throw Problem.invalid("The body must be a JSON object.")
            }
            return value
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .invalid("The body cannot be read: \(error)")
        }
    }

    /// The member `revision` of a body.
    static func revision(_ body: JSONValue) throws(Problem) -> Int {
        guard let revision = body["revision"]?.integer.flatMap({ Int(exactly: $0) }) else {
            throw .invalid("revision must be the whole number that the operation came with.")
        }
        return revision
    }
}

extension Problem: Error {}

extension Response {
    /// A JSON answer of the operator API, never to be kept by a cache.
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headerFields: [
                .contentType: "application/json", .cacheControl: "no-store",
                .xContentTypeOptions: "nosniff",
            ], body: Array(value.text.utf8))
    }
}
