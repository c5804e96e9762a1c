import Backend
import HTTPClient
import HTTPMessage
import HTTPServer
import Logging
import Platform
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

extension Stage {
    /// Over sockets: proxy and backend each behind a server, and a client of both over HTTP.
    static func overSockets(
        _ family: ClientFamily, _ flavour: BackendFlavour, and more: [String] = [],
        _ body: (Stage) async throws -> Void
    ) async throws {
        let backend = try TablesBackend.underTest(flavour.options, clock: { ThisProcess.now })
        let server = Server(
            ServerConfiguration(addresses: [try ListenAddress("127.0.0.1:0")], workers: 1),
            handler: backend)
        let behind = "\(try server.start()[0])"
        let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
        let lock = try folder.open()
        var configuration = ProxyConfiguration(
            backend: try #require(BackendAddress("http://\(behind)")), folder: folder)
        configuration.sync.triggers = [.manual]
        configuration.tables = (flavour.tables + more).compactMap { TableName($0) }
        let toBackend = try CurlTransport()
        let graph = try await AppGraphBuilder(configuration, log: Logger(label: "test")).build(
            AppGraphBuilder.Transports(syncing: toBackend), workers: 1)
        let proxy = Server(
            ServerConfiguration(addresses: [try ListenAddress("127.0.0.1:0")], workers: 1),
            handler: graph.handler)
        let address = "\(try proxy.start()[0])"
        graph.setAddresses(clients: address, dashboard: address)
        let client = try CurlTransport()
        let stage = Stage(
            sdk: SDK(family: family, table: flavour.table), flavour: flavour,
            ask: { ClientResponse(response: try await client.send($0.request(to: address))) },
            askBackend: { ClientResponse(response: try await client.send($0.request(to: behind))) },
            tenant: graph.tenants.anonymous)
        let result = await Result.of {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await graph.runWork() }
                group.addTask { await stage.tenant.engine.run() }
                try await body(stage)
                group.cancelAll()
            }
        }
        await proxy.stop()
        await toBackend.stop()
        await graph.close()
        lock.release()
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
