import Backend
import HTTPMessage
import HTTPTypes
import Logging
import Platform
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// A whole proxy without sockets: real store, engine and routes, and a backend behind a transport that a
/// test can make fail.
struct TestApp {
    let graph: AppGraph
    let backend: TablesBackend
    let transport: FaultyTransport
    let folder: DataFolder

    /// Builds a graph in a new folder, runs it during `body`, and removes the folder.
    static func run(
        triggers: Set<Trigger> = [.manual], tables: [String] = [],
        backend options: BackendOptions = BackendOptions(),
        configure: (inout ProxyConfiguration) -> Void = { _ in },
        _ body: (TestApp) async throws -> Void
    ) async throws {
        let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
        let lock = try folder.open()
        defer {
            lock.release()
            try? Files.removeFolder(folder.path)
        }
        let listed = tables.compactMap { TableName($0) }.reduce(options) { $0.having($1) }
        let backend = try TablesBackend.underTest(listed, clock: { ThisProcess.now })
        let transport = FaultyTransport(InProcessTransport(backend))
        var configuration = ProxyConfiguration(
            backend: try #require(BackendAddress("http://backend.test")), folder: folder)
        configuration.sync.triggers = triggers
        configuration.tables = tables.isEmpty ? nil : tables.compactMap { TableName($0) }
        configuration.rules.allowedOrigins = ["http://app.example", "null", "file://"]
        configure(&configuration)
        let graph = try await AppGraphBuilder(configuration, log: Logger(label: "test")).build(
            AppGraphBuilder.Transports(syncing: transport), workers: 1)
        let test = TestApp(
            graph: graph, backend: backend, transport: transport, folder: folder)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await graph.work.run() }
            group.addTask { await graph.tenants.run() }
            try await body(test)
            group.cancelAll()
        }
        await graph.tenants.close()
    }

    /// Handles a request as the server does: first `read`, then `admit`, then `handle`.
    func send(_ request: Request) async -> Response {
        let handler = graph.routes.read(request)
        switch handler.admit(request) {
        case .refuse(let response): return response
        case .accept, .stream: return await response(handler.handle(request))
        }
    }

    private func response(_ answer: Answer) async -> Response {
        switch answer {
        case .now(let response): return response
        case .later(let start):
            return await withCheckedContinuation { continuation in
                let isAnswered = OnceFlag()
                start(
                    Reply { response in
                        if isAnswered.claim() { continuation.resume(returning: response) }
                    })
            }
        }
    }

    /// Sends a request as an SDK made it.
    func send(_ call: Call) async -> ClientResponse {
        ClientResponse(response: await send(call.request(to: "127.0.0.1:8080")))
    }

    /// Sends a request with the fields of an SDK family.
    func send(
        as family: ClientFamily, _ method: String, _ target: String, _ body: String = "",
        _ fields: [(String, String)] = [], type: String = "application/json"
    ) async -> ClientResponse {
        let type = body.isEmpty ? [] : [("Content-Type", type)]
        return await send(
            Call(
                method: method, target: target,
                fields: SDK(family: family).fields + type + fields, body: body))
    }

    /// The lines of the metrics.
    func metrics() async throws -> [String] {
        let fields: KeyValuePairs = ["Authorization": "Bearer \(try folder.token() ?? "")"]
        let bytes = await send(.make("GET", "/-/metrics", fields)).bytes ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Sends a request to the operator API with the token.
    func ask(
        _ method: String, _ path: String, _ body: String = ""
    ) async throws -> (status: Int, body: JSONValue) {
        let token = try folder.token() ?? ""
        let response = await send(
            .make(
                method, path.hasPrefix("/-/") ? path : "/-/api/v1\(path)",
                ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
                body: body))
        let bytes = response.bytes ?? []
        return (
            response.head.status.code, bytes.isEmpty ? .null : try JSONValue(parsing: bytes)
        )
    }

    /// Sends a request to `/tables` as a second generation client.
    func table(
        _ method: String, _ path: String, _ body: String = "",
        _ fields: KeyValuePairs<String, String> = [:]
    ) async -> (status: Int, fields: HTTPFields, body: JSONValue) {
        let response = await send(Self.ofSecondGeneration(method, path, body, fields))
        let value = (try? JSONValue(parsing: response.bytes ?? [])) ?? .null
        return (response.head.status.code, response.head.headerFields, value)
    }

    /// Sends a request of another client to the backend.
    func elsewhere(_ method: String, _ path: String, _ body: String = "") -> JSONValue {
        let request = Self.ofSecondGeneration(method, path, body)
        return (try? JSONValue(parsing: backend.respond(to: request).bytes ?? [])) ?? .null
    }

    private static func ofSecondGeneration(
        _ method: String, _ path: String, _ body: String,
        _ fields: KeyValuePairs<String, String> = [:]
    ) -> Request {
        var request = Request.make(method, "/tables/\(path)", fields, body: body)
        request.head.headerFields[.zumoAPIVersion] = "2.0.0"
        if !body.isEmpty { request.head.headerFields[.contentType] = "application/json" }
        return request
    }

    /// Waits until the first pull of a table is complete. On a busy machine a slow list is answered by the
    /// backend meanwhile.
    func firstPull(of table: String) async throws {
        let store = graph.tenants.anonymous.store
        while try await !store.tables().contains(where: { $0.name == table && $0.isComplete }) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// The backend cannot be reached from now on.
    func unplug() { transport.decide { _, _ in .notSent } }

    /// The backend can be reached again.
    func plug() { transport.decide { _, _ in nil } }
}
