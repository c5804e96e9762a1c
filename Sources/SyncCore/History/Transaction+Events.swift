import TablesProtocol

extension Transaction {
    /// Tells the dashboard, after the commit, that something changed.
    func emit(
        _ kind: Event.Kind, table: TableName? = nil, item: ItemID? = nil,
        operation: OperationID? = nil
    ) throws {
        try run(
            "INSERT INTO events(kind, table_name, item_id, op_id) VALUES (?, ?, ?, ?)",
            [kind.rawValue, table?.text, item?.text, operation])
        let id = db.insertedRowID
        if id % 512 == 0 {
            try run("DELETE FROM events WHERE id <= ?", [id - Int64(StoreLimits.events)])
        }
        effects.events.append(
            Event(
                id: id, kind: kind, identity: identity, table: table?.text, itemID: item?.text,
                operationID: operation))
    }

    /// Tells the dashboard that an operation changed.
    func emit(_ kind: Event.Kind, _ operation: TableOperation) throws {
        try emit(
            kind, table: operation.table, item: operation.itemID, operation: operation.id)
    }
}
