import HTTPMessage
import Logging
import SyncCore
import TablesProtocol

/// One proxy of a run of shared rows, with a client that keeps its rows and syncs with the proxy.
final class SharedRowsProxy: Sendable {
    let number: Int
    let store: Store
    let engine: SyncEngine
    let transport: SharedRowsTransport
    private let plan: SharedRowsPlan
    private let tables: [TableName]

    init(
        _ number: Int, _ plan: SharedRowsPlan, _ tables: [TableName], rootFolder: String,
        transport: SharedRowsTransport, clock: ManualClock, bug: ProductBug?
    ) throws {
        (self.number, self.plan, self.tables, self.transport) = (number, plan, tables, transport)
        let ids = SeededRandom(plan.seed &+ 20 &+ UInt64(number))
        store = try Store(
            at: "\(rootFolder)/\(number).sqlite", identity: "anonymous", clock: clock, ids: ids,
            workers: 1)
        #if DEBUG
            store.plant(bug)
        #endif
        var log = Logger(label: "simulation")
        log.logLevel = .critical
        engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(address: Simulation.address),
            settings: SyncSettings(
                triggers: [.manual], parallelism: 1, tables: tables, pageRows: plan.pageRows),
            clock: clock, random: ids, log: log)
    }

    /// The rows that are not deleted, by name.
    func rows() async throws -> [String: Item] {
        try await stored().compactMapValues { $0.item.deleted ? nil : $0.item }
    }

    /// All rows by name. Of a row with a tombstone under an earlier id, the row.
    func stored() async throws -> [String: Store.StoredRow] {
        var named: [String: Store.StoredRow] = [:]
        for (table, rows) in try await store.rows(of: tables) {
            for row in rows {
                let name = plan.name(of: row.item, in: table)
                let known = named[name]
                if let known, !known.item.deleted || known.isPending && row.item.deleted {
                    continue
                }
                named[name] = row
            }
        }
        return named
    }

    /// The name of the row with an id of this store; the id where it has none.
    func name(of id: String, in table: String) async throws -> String {
        guard table == Simulation.table.text, plan.hasIntegerIDs(Simulation.table) else {
            return id
        }
        let rows = try await store.rows(of: [Simulation.table])[Simulation.table] ?? []
        let item = rows.first { $0.item.id.text == id }?.item
        return item.map { plan.name(of: $0, in: Simulation.table) } ?? id
    }
}
