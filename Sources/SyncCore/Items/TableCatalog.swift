import Synchronization
import TablesProtocol

/// What all readers, and the engine, remember of the tables.
struct TableCatalogs: Sendable {
    private let readers: [TableCatalog]
    private let engine = TableCatalog()

    init(_ readers: [TableCatalog]) { self.readers = readers }

    /// A table from the engine's memory; nil when it is not there.
    func remembered(_ name: TableName) -> TableRecord? { engine.remembered(name) }

    /// A table from the engine's memory, else from `load`.
    func table(
        _ name: TableName, _ load: () throws -> TableRecord?
    ) rethrows -> TableRecord? {
        try engine.table(name, load)
    }

    /// What transactions on the writer's connection remember: the tables as they are committed.
    let writer = TableCatalog()

    /// Forgets all, after a commit that changed a table.
    func forget() {
        writer.forget()
        engine.forget()
        for one in readers { one.forget() }
    }
}

/// What a reader remembers of the tables, until a commit changes one. Each reader has its own, so that
/// two workers do not wait for each other's cache lines.
final class TableCatalog: Sendable {
    private struct State {
        var epoch = 0
        var tables: [String: TableRecord] = [:]
    }
    private let state = Mutex(State())

    /// A table from memory; nil when it is not there, which does not say that there is none.
    func remembered(_ name: TableName) -> TableRecord? {
        state.withLock { $0.tables[name.key] }
    }

    /// The same by the table's number.
    func remembered(id: Int64) -> TableRecord? {
        state.withLock { state in state.tables.first { $0.value.id == id }?.value }
    }

    /// Remembers a table as it is committed, where no commit can come between.
    func remember(_ table: TableRecord) {
        state.withLock { $0.tables[table.name.key] = table }
    }

    /// A table from memory, else from `load`. Tables that do not exist are not remembered.
    func table(
        _ name: TableName, _ load: () throws -> TableRecord?
    ) rethrows -> TableRecord? {
        let (known, epoch) = state.withLock { ($0.tables[name.key], $0.epoch) }
        if let known { return known }
        guard let loaded = try load() else { return nil }
        state.withLock { state in
            // What was loaded before a change was committed must not be remembered after it.
            if state.epoch == epoch { state.tables[name.key] = loaded }
        }
        return loaded
    }

    /// Forgets all, after a commit that changed a table.
    func forget() {
        state.withLock { state in
            state.epoch += 1
            state.tables = [:]
        }
    }
}
