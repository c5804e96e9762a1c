import Synchronization
import TablesProtocol

/// The table records that the readers, the writer and the engine cache.
struct TableCatalogs: Sendable {
    private let readers: [TableCatalog]
    private let engine = TableCatalog()

    init(_ readers: [TableCatalog]) { self.readers = readers }

    /// A table in the engine's cache; nil if it is not cached.
    func remembered(_ name: TableName) -> TableRecord? { engine.remembered(name) }

    /// A table from the engine's cache, else from `load`.
    func table(
        _ name: TableName, _ load: () throws -> TableRecord?
    ) rethrows -> TableRecord? {
        try engine.table(name, load)
    }

    /// The cache of transactions on the writer's connection: the committed tables.
    let writer = TableCatalog()

    /// Clears every cache, after a commit that changed a table.
    func forget() {
        writer.forget()
        engine.forget()
        for one in readers { one.forget() }
    }
}

/// A cache of table records, valid until a commit changes one. Each reader has its own, so that two threads
/// do not share cache lines.
final class TableCatalog: Sendable {
    private struct State {
        var epoch = 0
        var tables: [String: TableRecord] = [:]
    }
    private let state = Mutex(State())

    /// A cached table; nil if it is not cached, even if it exists.
    func remembered(_ name: TableName) -> TableRecord? {
        state.withLock { $0.tables[name.key] }
    }

    /// A cached table by its number.
    func remembered(id: Int64) -> TableRecord? {
        state.withLock { state in state.tables.first { $0.value.id == id }?.value }
    }

    /// Caches a committed table. Not to be called while another commit is possible.
    func remember(_ table: TableRecord) {
        state.withLock { $0.tables[table.name.key] = table }
    }

    /// A table from the cache, else from `load`. Missing tables are not cached.
    func table(
        _ name: TableName, _ load: () throws -> TableRecord?
    ) rethrows -> TableRecord? {
        let (known, epoch) = state.withLock { ($0.tables[name.key], $0.epoch) }
        if let known { return known }
        guard let loaded = try load() else { return nil }
        state.withLock { state in
            // A record that was loaded before a commit must not be cached after it.
            if state.epoch == epoch { state.tables[name.key] = loaded }
        }
        return loaded
    }

    /// Clears the cache, after a commit that changed a table.
    func forget() {
        state.withLock { state in
            state.epoch += 1
            state.tables = [:]
        }
    }
}
