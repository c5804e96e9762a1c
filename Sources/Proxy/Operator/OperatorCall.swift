import HTTPMessage
import HTTPTypes
import TablesProtocol

/// One request to `/-/`, with its path parameters and query read.
struct OperatorCall: Sendable {
    let request: Request
    /// The values of the `{name}` segments of the route's pattern.
    let parameters: [String: String]
    /// The first value of each name in the query.
    let query: [String: String]
    /// Whether the caller waits no longer; see ``Reply/clientHasLeft``.
    var clientHasLeft: @Sendable () -> Bool = { false }

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

    /// A path parameter; the route's pattern must have it.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// A whole number in the query; nil if it is not there. Throws if it is not in `range`.
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw .invalid(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// The number of elements of a page.
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
    /// A JSON answer of the operator API, which caches may not keep.
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headerFields: [
                .contentType: "application/json", .cacheControl: "no-store",
                .xContentTypeOptions: "nosniff",
            ], body: Array(value.text.utf8))
    }
}

/// An error of the operator API: an RFC 9457 problem with a stable `code`.
struct Problem: Sendable {
    let status: HTTPResponse.Status
    /// A stable word for programs.
    let code: String
    /// One sentence for a person, with what to do.
    let detail: String
    /// Further members.
    var members: [JSONValue.Member] = []
    /// Further header fields.
    var fields: HTTPFields = [:]

    /// The problem as a response.
    var response: Response {
        var fields = OperatorHeaders.added(to: fields)
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        let body: JSONValue = .object(
            [
                .init("type", .string("about:blank")),
                .init("title", .string(status.reasonPhrase)),
                .init("status", .number(JSONNumber(Int64(status.code)))),
                .init("detail", .string(detail)),
                .init("code", .string(code)),
            ] + members)
        return Response(status: status, headerFields: fields, body: Array(body.text.utf8))
    }

    /// 400.
    static func invalid(_ detail: String, code: String = "invalid-request") -> Problem {
        Problem(status: .badRequest, code: code, detail: detail)
    }

    /// 404.
    static func notFound(_ detail: String) -> Problem {
        Problem(status: .notFound, code: "not-found", detail: detail)
    }

    /// 503 with `Retry-After`.
    static func unavailable(_ detail: String) -> Problem {
        Problem(
            status: .serviceUnavailable, code: "unavailable", detail: detail,
            fields: [.retryAfter: String(Limits.retryAfterSeconds)])
    }

    /// 503 for a change for all identities that some stores could not get.
    /// - Parameters:
    ///   - count: the number of those stores.
    ///   - all: the number of all stores.
    static func storesLeft(_ count: Int, of all: Int) -> Problem {
        let (it, takes) = count == 1 ? ("it", "It takes") : ("they", "They take")
        return Problem(
            status: .serviceUnavailable, code: "stores-left",
            detail: "\(count) of \(all) stores could not be changed; all others were. \(takes) the "
                + "change when \(it) can be opened: run `understudy doctor`, which says which and what "
                + "to do.")
    }

    /// 405 with the allowed methods.
    static func methodNotAllowed(_ allowed: [String]) -> Problem {
        Problem(
            status: .methodNotAllowed, code: "method-not-allowed",
            detail: "Here the methods are \(allowed.joined(separator: ", ")).",
            fields: [.allow: allowed.joined(separator: ", ")])
    }
}

extension Refusal {
    /// The refusal as a problem, for requests outside of `/tables` and for those without a known space.
    var problem: Response {
        var problem = Problem(status: status, code: reason.rawValue, detail: sentence)
        if reason == .method {
            problem.fields[.allow] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        }
        if reason == .signIn {
            problem.fields[.wwwAuthenticate] = "Bearer realm=\"understudy\""
        }
        return problem.response
    }
}

/// The security header fields of every answer under `/-/`.
enum OperatorHeaders {
    /// 1. Browsers do not guess the media type.
    /// 2. Pages of other origins cannot load the answer.
    /// 3. As a page it loads nothing, runs nothing, and is in no frame. The dashboard's files have a policy
    ///    of their own.
    static let fields: HTTPFields = [
        .xContentTypeOptions: "nosniff", .resourcePolicy: "same-origin",
        .contentSecurityPolicy: policy,
    ]

    /// The fields of an answer with these added.
    static func added(to fields: HTTPFields) -> HTTPFields {
        var closed = fields
        for field in Self.fields { closed[field.name] = field.value }
        return closed
    }

    /// The content security policy of an answer that is no file of the dashboard.
    static let policy =
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
