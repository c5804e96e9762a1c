import HTTPClient
import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Talks to the operator API of the Understudy that runs on a data folder.
struct OperatorClient {
    private let transport: CurlTransport
    private let authority: String
    private let token: String
    private let identity: String?

    /// Finds address and token in the folder.
    init(_ folder: DataFolder, identity: String?) throws(StartProblem) {
        do {
            guard let address = try folder.address(), let token = try folder.token() else {
                throw StartProblem(
                    "No Understudy runs on \(folder.path). Start one, or name its folder with "
                        + "--data.", .notRunning)
            }
            authority = String(address.dropFirst("http://".count))
            self.token = token
            self.identity = identity
            transport = try CurlTransport(
                ClientConfiguration(requestTimeout: .seconds(Limits.commandSeconds)))
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    /// Ends the connection.
    func close() async { await transport.stop() }

    /// Asks.
    func get(_ path: String, _ query: [(String, String?)] = []) async throws(StartProblem)
        -> JSONValue
    {
        try await send(.get, path, query, nil)
    }

    /// Acts.
    func post(
        _ path: String, _ query: [(String, String?)] = [], _ body: JSONValue = .object([])
    ) async throws(StartProblem) -> JSONValue {
        try await send(.post, path, query, body)
    }

    /// Changes.
    func patch(_ path: String, _ body: JSONValue) async throws(StartProblem) -> JSONValue {
        try await send(.patch, path, [], body)
    }

    /// Removes.
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
        var head = HTTPRequest(
            method: method, scheme: "http", authority: authority, path: target)
        head.headerFields[.authorization] = "Bearer \(token)"
        if body != nil { head.headerFields[.contentType] = "application/json" }
        let response: Response
        do {
            response = try await transport.send(
                Request(head: head, body: Array((body?.text ?? "").utf8)))
        } catch {
            throw StartProblem(
                "No Understudy answers at \(authority): \(error.message)", .notRunning)
        }
        if response.head.status == .noContent { return .object([]) }
        let value = try? JSONValue(parsing: response.bytes ?? [])
        guard (200..<300).contains(response.head.status.code), let value else {
            let detail = value?["detail"]?.string ?? "It answered \(response.head.status)."
            throw StartProblem(detail, .error)
        }
        return value
    }
}
