import HTTPClient
import HTTPMessage
import HTTPServer
import Logging
import ReferenceBackend
import SyncCore
import TablesProtocol

@testable import Proxy

extension Stage {
    /// Over sockets: the proxy as `serve` builds it, the backend behind a server of its own, and a
    /// client that speaks HTTP to either.
    static func overSockets(
        _ family: ClientFamily, _ flavour: BackendFlavour, and more: [String] = [],
        _ body: (Stage) async throws -> Void
    ) async throws {
        let backend = try ReferenceBackend(options: flavour.options) {
            ThisProcess.now
        }
        let server = Server(
            ServerConfiguration(addresses: [try ListenAddress("127.0.0.1:0")], workers: 1),
            handler: backend)
        let behind = "\(try server.start()[0])"
        let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
        let configuration = try ServeConfiguration(
            Sources(
                flags: [
                    "backend": ["http://\(behind)"], "listen": ["127.0.0.1:0"],
                    "data": [folder.path], "sync": ["manual"], "table": flavour.tables + more,
                ], environment: { _ in nil }), rebind: false)
        let proxy = try await Composition(configuration, log: Logger(label: "test")).start(
            try folder.open())
        let client = try CurlTransport()
        let stage = Stage(
            sdk: SDK(family: family, table: flavour.table), flavour: flavour,
            ask: { ClientResponse(response: try await client.send($0.request(to: proxy.address))) },
            askBackend: { ClientResponse(response: try await client.send($0.request(to: behind))) },
            tenant: proxy.graph.tenants.anonymous)
        let result = await Result.of {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await proxy.graph.work.run() }
                group.addTask { await stage.tenant.engine.run() }
                try await body(stage)
                group.cancelAll()
            }
        }
        await proxy.server.stop()
        await proxy.close()
        await client.stop()
        await server.stop()
        try? Files.removeFolder(folder.path)
        try result.get()
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
