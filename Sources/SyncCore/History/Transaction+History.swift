import Storage
import TablesProtocol

extension Transaction {
    /// Writes an entry of history; gives its id.
    /// - Parameters:
    ///   - before: the item's columns before; nil when there was none to see.
    ///   - after: the item's columns after; nil when there is none to see.
    @discardableResult
    func record(
        _ kind: HistoryEntry.Kind, actor: Actor, tableID: Int64? = nil, item: ItemID? = nil,
        operation: OperationID? = nil, before: Columns? = nil, after: Columns? = nil,
        summary: String, undoable: Bool = false
    ) throws -> Int64 {
        try run(
            """
            INSERT INTO history(at, kind, actor, table_id, item_id, op_id, before, after, summary,
              undoable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                now.milliseconds, kind.rawValue, actor.rawValue, tableID, item?.text, operation,
                before?.text, after?.text, summary, undoable,
            ])
        return db.insertedRowID
    }

    /// Writes an entry about an operation.
    @discardableResult
    func record(
        _ kind: HistoryEntry.Kind, actor: Actor, _ operation: TableOperation,
        before: Columns? = nil, after: Columns? = nil, summary: String, undoable: Bool = false
    ) throws -> Int64 {
        try record(
            kind, actor: actor, tableID: operation.tableID, item: operation.itemID,
            operation: operation.id, before: before, after: after, summary: summary,
            undoable: undoable)
    }

    /// Writes an entry about an operation that was given up or decided, with what undoing it brings
    /// back.
    func record(
        _ kind: HistoryEntry.Kind, actor: Actor, _ operation: TableOperation, before: Columns?,
        after: Columns?, summary: String, point: UndoPoint
    ) throws {
        let entry = try record(
            kind, actor: actor, operation, before: before, after: after, summary: summary,
            undoable: true)
        try save(point, of: entry, before: before)
    }
}
