import TablesProtocol

extension Transaction {
    /// Writes an entry of history; gives its id.
    /// - Parameters:
    ///   - before: the item's columns before; nil when there was none to see.
    ///   - after: the item's columns after; nil when there is none to see.
    ///   - serverVersion: the backend's version of what is seen after, as far as it is known.
    @discardableResult
    func record(
        _ kind: HistoryEntry.Kind, actor: Actor, tableID: Int64? = nil, item: ItemID? = nil,
        operation: OperationID? = nil, before: Columns? = nil, after: Columns? = nil,
        summary: String, undoable: Bool = false, serverVersion: String? = nil
    ) throws -> Int64 {
        try run(
            """
            INSERT INTO history(at, kind, actor, table_id, item_id, op_id, before, after, summary,
              undoable, server_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                now.milliseconds, kind.rawValue, actor.rawValue, tableID, item?.text, operation,
                before?.text, after?.text, summary, undoable, serverVersion,
            ])
        return db.insertedRowID
    }

    /// Writes an entry about an operation.
    @discardableResult
    func record(
        _ kind: HistoryEntry.Kind, actor: Actor, _ operation: TableOperation,
        before: Columns? = nil, after: Columns? = nil, summary: String, undoable: Bool = false,
        serverVersion: String? = nil
    ) throws -> Int64 {
        try record(
            kind, actor: actor, tableID: operation.tableID, item: operation.itemID,
            operation: operation.id, before: before, after: after, summary: summary,
            undoable: undoable, serverVersion: serverVersion)
    }
}
