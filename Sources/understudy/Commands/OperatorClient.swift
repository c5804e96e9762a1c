import HTTPMessage
import HTTPTypes
import Proxy
import TablesProtocol

/// A client of the operator API of a running Understudy or of ``OfflineAdmin``.
struct OperatorClient: Sendable {
    private let transport: any HTTPTransport
    private let authority: String
    private let token: String
    private let identity: String?
    /// Whether an Understudy runs; otherwise the answers are from ``OfflineAdmin``.
    let isRunning: Bool

    /// Makes a client.
    /// - Parameters:
    ///   - authority: host and port of the API.
    ///   - identity: the value of `?identity=`; nil for `anonymous`.
    ///   - isRunning: see ``isRunning``.
    init(
        _ transport: any HTTPTransport, authority: String, token: String, identity: String?,
        isRunning: Bool
    ) {
        self.transport = transport
        self.authority = authority
        self.token = token
        self.identity = identity
        self.isRunning = isRunning
    }

    /// The client for paths that are for all identities.
    var forAll: OperatorClient {
        OperatorClient(
            transport, authority: authority, token: token, identity: nil, isRunning: isRunning)
    }

    /// The client for the store of an identity.
    func of(_ identity: String) -> OperatorClient {
        OperatorClient(
            transport, authority: authority, token: token, identity: identity,
            isRunning: isRunning)
    }

    /// The answer to a GET below `/-/api/v1`.
    func get(_ path: String, _ query: [(String, String?)] = []) async throws(StartProblem)
        -> JSONValue
    {
        try await send(.get, path, query, nil)
    }

    /// The answer to a POST.
    func post(
        _ path: String, _ query: [(String, String?)] = [], _ body: JSONValue = .object([])
    ) async throws(StartProblem) -> JSONValue {
        try await send(.post, path, query, body)
    }

    /// The answer to a PATCH.
    func patch(_ path: String, _ body: JSONValue) async throws(StartProblem) -> JSONValue {
        try await send(.patch, path, [], body)
    }

    /// Reads a list page by page.
    /// - Parameter each: called with one element after the other.
    func all(
        _ path: String, _ query: [(String, String?)] = [],
        _ each: (JSONValue) async throws(StartProblem) -> Void
    ) async throws(StartProblem) {
        var after: String?
        repeat {
            let page = try await get(
                path, query + [("limit", String(Proxy.Limits.pageElementsMax)), ("after", after)])
            for element in page["items"]?.array ?? [] { try await each(element) }
            after = page["next"]?.string
        } while after != nil
    }

    /// The text at a path under `/-/`, such as the metrics.
    func text(_ path: String) async throws(StartProblem) -> String {
        let response = try await answer(.get, "/-/\(path)", nil)
        return String(decoding: response.bytes ?? [], as: UTF8.self)
    }

    /// Sends a DELETE.
    func delete(_ path: String) async throws(StartProblem) {
        _ = try await send(.delete, path, [], nil)
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ query: [(String, String?)],
        _ body: JSONValue?
    ) async throws(StartProblem) -> JSONValue {
        let pairs = (query + [("identity", identity)]).compactMap { name, value in
            value.map { "\(name)=\(PercentCoding.encode($0))" }
        }
        let target = "/-/api/v1\(path)" + (pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))")
        let response = try await answer(method, target, body)
        if response.head.status == .noContent { return .object([]) }
        let value = Result { () throws(JSONError) in
            try JSONValue(
                parsing: response.bytes ?? [], maxDepth: TablesProtocol.Limits.envelopeDepth)
        }
        guard (200..<300).contains(response.head.status.code) else {
            let value = try? value.get()
            let detail = value?["detail"]?.string ?? "It answered \(response.head.status)."
            // `settings set` names the members as the API does.
            let place =
                path == "/settings"
                ? nil : value?["pointer"]?.string ?? value?["parameter"]?.string
            throw StartProblem(
                Self.naming(option: place, in: detail),
                response.head.status == .badRequest ? .usage : .error)
        }
        do {
            return try value.get()
        } catch {
            throw StartProblem("The answer to \(path) cannot be read. \(error)", .error)
        }
    }

    /// The sentence on a wrong value with the option that has the value instead of the place in the request.
    static func naming(option place: String?, in detail: String) -> String {
        guard let place, let option = options[place], detail.hasPrefix("\(place) ") else {
            return detail
        }
        return option + detail.dropFirst(place.count)
    }

    /// The options that the commands send, by the place in the body or the parameter of the query.
    private static let options = [
        "after": "--after", "limit": "--limit", "state": "--state",
        "/filter/q": "--text", "/filter/table": "--table", "/filter/state": "--state",
        "/filter/reason": "--reason", "/forSeconds": "--for", "/query": "--query",
        "/queryId": "--query-id", "/readPolicy": "--read", "/writePolicy": "--write",
        "/conflictPolicy": "--conflict", "/unconditionalPolicy": "--unconditional",
    ]

    private func answer(
        _ method: HTTPRequest.Method, _ target: String, _ body: JSONValue?
    ) async throws(StartProblem) -> Response {
        var head = HTTPRequest(
            method: method, scheme: "http", authority: authority, path: target)
        head.headerFields[.authorization] = "Bearer \(token)"
        if body != nil { head.headerFields[.contentType] = "application/json" }
        do {
            return try await transport.send(
                Request(head: head, body: Array((body?.text ?? "").utf8)))
        } catch {
            // A server that has got the request runs, even if it does not answer in time.
            throw StartProblem(
                "No Understudy answers at \(authority): \(error.message)",
                error.reach == .maybeSent ? .error : .notRunning)
        }
    }
}
