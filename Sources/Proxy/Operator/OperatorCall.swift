import HTTPMessage
import HTTPTypes
import Platform
package import SyncCore
import TablesProtocol

/// One request to `/-/`, with its path parameters, query and body read and checked by the route.
struct OperatorCall: Sendable {
    let request: Request
    /// The values of the `{name}` segments of the route's path.
    let parameters: [String: String]
    /// The parameters of the query, an object.
    let query: JSONValue
    /// The body; an empty object for a request without one.
    let body: JSONValue
    /// Whether the caller waits no longer; see ``Reply/clientHasLeft``.
    var clientHasLeft: @Sendable () -> Bool = { false }

    /// Checks the query and the body. For a page other parameters are allowed, and a body is not read.
    init(
        _ request: Request, _ route: RouteDescription, parameters: [String: String]
    ) throws(Problem) {
        self.request = request
        self.parameters = parameters
        if route.scope == .page {
            query = .object(
                try RequestDescription.pairs(request.query).map {
                    .init($0.name, .string($0.value))
                })
            body = .object([])
        } else {
            query = try route.request.checkedQuery(request.query)
            body =
                route.method == .get
                ? .object([]) : try route.request.checkedBody(request.body)
        }
    }

    /// A path parameter; the route's path must have it.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// The table that the path names.
    func table() throws(Problem) -> TableName {
        let name = parameter("table")
        guard let table = TableName(name) else {
            throw .notFound("\"\(name)\" is not the name of a table.")
        }
        return table
    }

    var limit: Int { query[Fields.limit] ?? Limits.pageElements }

    /// The `after` of a list; nil for its beginning.
    func cursor() throws(Problem) -> String? {
        guard let text = query[Fields.after], !Cursor.isCursor(text) else {
            return query[Fields.after]
        }
        throw .invalid(Self.noCursor, parameter: "after")
    }

    static let noCursor = "after must be the next of the page before."

    var isDryRun: Bool { body[Fields.dryRun] ?? false }

    /// The address of something below `/-/api/v1/`, for the identity that the request names.
    func location(_ path: String) -> String {
        let identity = query[Fields.identity].map { "?identity=\(PercentCoding.encode($0))" }
        return "\(RouteDescription.api)/\(path)\(identity ?? "")"
    }
}

extension Response {
    /// A JSON answer of the operator API, which caches may not keep.
    /// - Parameter location: where what was made or begun is, for 201 and 202.
    static func json(
        _ answer: some Encodable, status: HTTPResponse.Status = .ok, location: String? = nil
    ) -> Response {
        var fields: HTTPFields = [
            .contentType: "application/json", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        fields[.location] = location
        let text = JSONValue(answer: answer).text
        return Response(status: status, headerFields: fields, body: Array(text.utf8))
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

    static func added(to fields: HTTPFields) -> HTTPFields {
        var closed = fields
        for field in Self.fields { closed[field.name] = field.value }
        return closed
    }

    /// The content security policy of an answer that is no file of the dashboard.
    static let policy =
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

extension Answers {
    /// RFC 9457.
    package struct Problem: PartialAnswer, Sendable, Hashable {
        package var type = "about:blank"
        package let title: String
        package let status: Int
        /// One sentence for a person that says what to do.
        package let detail: String
        /// Stable word for programs.
        package let code: String
        /// Byte offset in the query where it went wrong.
        package var position: Int?
        /// The place in the body that is not as it is described: a JSON pointer (RFC 6901), empty for the whole
        /// body.
        package var pointer: String?
        /// The parameter of the query that is not as it is described.
        package var parameter: String?
        package var current: OperationSummary?
    }
}

/// An error of the operator API: an RFC 9457 problem with a stable `code`.
struct Problem: Error, Sendable {
    let status: HTTPResponse.Status
    /// A stable word for programs.
    let code: String
    /// One sentence for a person, with what to do.
    let detail: String
    /// See ``Answers/Problem``.
    var position: Int?
    var pointer: String?
    var parameter: String?
    var current: OperationSummary?
    /// Further header fields.
    var fields: HTTPFields = [:]

    /// The problem of an error: itself, or 503 with its sentence for one of a store.
    static func of(_ error: any Error) -> Problem {
        error as? Problem ?? .unavailable("\(error)")
    }

    var response: Response {
        var fields = OperatorHeaders.added(to: fields)
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        let body = Answers.Problem(
            title: status.reasonPhrase, status: status.code, detail: detail, code: code,
            position: position, pointer: pointer, parameter: parameter, current: current)
        return Response(
            status: status, headerFields: fields, body: Array(JSONValue(answer: body).text.utf8))
    }

    /// 400.
    static func invalid(_ detail: String, code: String = "invalid-request") -> Problem {
        Problem(status: .badRequest, code: code, detail: detail)
    }

    /// 400 for a place in the body.
    static func invalid(_ detail: String, pointer: String) -> Problem {
        var problem = Problem.invalid(detail)
        problem.pointer = pointer
        return problem
    }

    /// 400 for a parameter of the query.
    static func invalid(_ detail: String, parameter: String) -> Problem {
        var problem = Problem.invalid(detail)
        problem.parameter = parameter
        return problem
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
    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            status: .methodNotAllowed, code: "method-not-allowed",
            detail: "Here the methods are \(names).", fields: [.allow: names])
    }
}

extension Refusal {
    /// The refusal as a problem, for requests outside of `/tables` and for those without a known space.
    var problem: Response {
        var problem = Problem(status: status, code: reason.rawValue, detail: sentence)
        if reason == .signIn {
            problem.fields[.wwwAuthenticate] = "Bearer realm=\"understudy\""
        }
        return problem.response
    }
}
