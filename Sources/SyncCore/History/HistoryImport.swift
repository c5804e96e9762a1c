public import TablesProtocol

/// An entry of another store's history, as an export has it.
public struct ImportedEntry: Sendable {
    /// When it happened there.
    public var at: Instant
    /// What.
    public var kind: HistoryEntry.Kind
    /// The one that did it, there.
    public var actor: Actor
    /// The table; nil for what concerns none.
    public var table: TableName?
    /// The item.
    public var itemID: String?
    /// The operation, as that store named it.
    public var operationID: OperationID?
    /// The item's columns before.
    public var before: Columns?
    /// The item's columns after.
    public var after: Columns?
    /// One sentence.
    public var summary: String

    /// Makes an entry from its parts.
    public init(
        at: Instant, kind: HistoryEntry.Kind, actor: Actor, table: TableName?, itemID: String?,
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

/// What became of an imported entry.
public enum ImportedOutcome: Sendable, Hashable {
    /// It is in the history now.
    case added
    /// It was there.
    case present
    /// Tables are restricted and its own is none of them.
    case tableNotAllowed
}

/// Takes over the history of another store.
struct HistoryImport {
    let transaction: Transaction
    private var tables: TableRecords { transaction.tables }

    /// Takes over an entry of another store's history, once.
    ///
    /// 1. One with the same time, kind, actor, table, item, operation and sentence is the same, also
    ///    where it happened here.
    /// 2. A new one gets a number below all others, so that a list has what was imported behind what
    ///    happened here, in the order in which it comes: the latest first.
    /// 3. It cannot be undone: its operation and the bases it was made from are in the other store.
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

// What an import asks of the store beside writes.
extension Store {
    /// Takes over entries of another store's history, the latest first; what is here stays as it is.
    /// - Returns: what became of each.
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

    /// Whether an item is here and has these values, so that writing them would change nothing.
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
