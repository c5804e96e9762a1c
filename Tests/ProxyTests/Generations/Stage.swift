import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// A client, a proxy and a backend, in one process or over sockets.
struct Stage: Sendable {
    let sdk: SDK
    let flavour: BackendFlavour
    /// Sends a request of the client to the proxy.
    let ask: @Sendable (Call) async throws -> ClientResponse
    /// Sends a request of another program to the backend.
    let askBackend: @Sendable (Call) async throws -> ClientResponse
    let tenant: Tenant

    /// What a deletion is answered with: 200 and the row to a client of a Node server, else 204.
    var deletionStatus: Int {
        sdk.family == .mobileApps && (flavour == .node || flavour == .express) ? 200 : 204
    }

    /// In one process: real routes, store and engine, and a backend that gets whole requests. `more` adds
    /// tables.
    static func inProcess(
        _ family: ClientFamily, _ flavour: BackendFlavour, and more: [String] = [],
        _ body: (Stage) async throws -> Void
    ) async throws {
        try await TestApp.run(
            tables: flavour.tables + more, backend: flavour.options
        ) { test in
            guard let tenant = test.graph.tenants.tenant(Identity.anonymousKey) else { return }
            let stage = Stage(
                sdk: SDK(family: family, table: flavour.table), flavour: flavour,
                ask: { await test.send($0) },
                askBackend: { call in
                    let request = call.request(to: "backend.test")
                    func respond() -> Response { test.backend.respond(to: request) }
                    return ClientResponse(response: respond())
                }, tenant: tenant)
            try await body(stage)
        }
    }

    /// Pushes and pulls; ends as expected.
    func sync(
        _ expected: RunState = .complete, _ place: SourceLocation = #_sourceLocation
    ) async {
        let run = await tenant.engine.sync()
        #expect(run.state == expected, "\(run)", sourceLocation: place)
    }

    /// The backend's row, deleted or not.
    func backendRow(_ id: String) async throws -> [String: String]? {
        try await backendRows().first { $0.string("id") == id }
    }

    /// The backend's rows, deleted or not.
    func backendRows(of table: String? = nil) async throws -> [[String: String]] {
        let list = try await askBackend(flavour.all(of: table))
        #expect(list.status == 200, "\(list.text)")
        return list.items
    }

    /// Pushes and pulls until a deletion at the backend arrives. A hard deletion is found only by a
    /// comparison of all ids.
    func syncDeletion(of id: String) async throws {
        await sync()
        guard flavour.deletesForGood else { return }
        #expect(try await ask(sdk.get(id)).status == 200)
        let table = try #require(TableName(flavour.table))
        let run = await tenant.engine.pull(table, reconcile: true)
        #expect(run.state == .complete && run.pull.first?.deleted == 1, "\(run)")
    }

    /// Whether the backend shows the row as deleted, or not at all.
    func isGoneAtBackend(_ id: String) async throws -> Bool {
        try await backendRow(id)?[flavour.deleted] ?? "true" == "true"
    }
}
