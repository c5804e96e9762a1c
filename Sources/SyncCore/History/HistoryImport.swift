import Storage
public import TablesProtocol

/// An entry of another store's history, as exported.
public struct ImportedEntry: Sendable {
    public var at: Instant
    public var kind: HistoryKind
    /// The actor in the other store.
    public var actor: Actor
    /// The table; nil if none was concerned.
    public var table: TableName?
    public var itemID: String?
    /// The operation's id in the other store.
    public var operationID: OperationID?
    /// The item's columns before.
    public var before: Columns?
    /// The item's columns after.
    public var after: Columns?
    /// One sentence for a person.
    public var summary: String

    public init(
        at: Instant, kind: HistoryKind, actor: Actor, table: TableName?, itemID: String?,
        operationID: OperationID?, before: Columns?, after: Columns?, summary: String
    ) {
        self.at = at
        self.kind = kind
        self.actor = actor
        self.table = table
        self.itemID = itemID
        self.operationID = operationID
        self.before = before
        self.after = after
        self.summary = summary
    }
}

public enum ImportedOutcome: Sendable, Hashable {
    case added
    /// The history already has it.
    case present
    /// The operator restricts the tables, and this table is not allowed.
    case tableNotAllowed
}

struct HistoryImport: InTransaction {
    let transaction: Transaction

    /// Imports an entry of another store's history, once.
    ///
    /// 1. An entry with the same time, kind, actor, table, item, operation and sentence is already present,
    ///    even if it happened in this store.
    /// 2. A new entry gets a number below all others. So a list shows imported entries after those of this
    ///    store, in the order of the import: latest first.
    /// 3. It cannot be undone, because its operation and its undo point are in the other store.
    func take(_ entry: ImportedEntry, _ rules: WriteRules) throws -> ImportedOutcome {
        var tableID: Int64?
        if let name = entry.table {
            guard rules.allows(name) else { return .tableNotAllowed }
            tableID = try tables.make(name).id
        }
        let here = entry.actor.isElsewhere ? entry.actor : .elsewhere(entry.actor)
        let known = try transaction.integer(
            """
            SELECT 1 FROM history WHERE at = ? AND kind = ? AND actor IN (?, ?) AND table_id IS ?
              AND item_id IS ? AND op_id IS ? AND summary = ?
            """,
            [
                entry.at.milliseconds, entry.kind.rawValue, entry.actor.rawValue, here.rawValue,
                tableID, entry.itemID, entry.operationID, entry.summary,
            ])
        if known != nil { return .present }
        let lowest = try transaction.integer("SELECT min(id) FROM history") ?? 0
        try transaction.run(
            """
            INSERT INTO history(id, at, kind, actor, table_id, item_id, op_id, before, after, summary)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                min(lowest, 0) - 1, entry.at.milliseconds, entry.kind.rawValue, here.rawValue,
                tableID, entry.itemID, entry.operationID, entry.before?.text, entry.after?.text,
                entry.summary,
            ])
        return .added
    }
}

// What an import needs from the store besides writes.
extension Store {
    /// Imports entries of another store's history, latest first. Present entries stay unchanged.
    /// - Returns: the outcome of each entry.
    public func importHistory(
        _ entries: [ImportedEntry]
    ) async throws(StoreError) -> [ImportedOutcome] {
        let rules = rules
        return try await write { transaction in
            let outcomes = try entries.map {
                try HistoryImport(transaction: transaction).take($0, rules)
            }
            if outcomes.contains(.added) { transaction.events.emit(.status) }
            return outcomes
        }
    }

    /// Whether the store has an item with these values, so that writing them would change nothing.
    public func has(
        _ columns: Columns, in table: TableName, _ id: ItemID
    ) async throws(StoreError) -> Bool {
        try await read { transaction in
            guard let table = try transaction.tables.table(table),
                let row = try transaction.items.row(table, id)?.visible
            else { return false }
            return row.holds(columns)
        }
    }
}
