public import TablesProtocol

extension Store {
    /// Whether changes of a table wait to be sent: a list that the backend gives lacks them.
    public func hasOpenChanges(in table: TableName) async throws(StoreError) -> Bool {
        try await read { transaction in
            guard let record = try transaction.tables.table(table) else { return false }
            return try transaction.integer(
                "SELECT 1 FROM operations WHERE table_id = ? AND closed_at IS NULL LIMIT 1",
                [record.id]) != nil
        }
    }

    /// Counts a write that the backend itself answered, without an operation.
    public func countSentThrough() async throws(StoreError) {
        try await write { try $0.ledger.count(["accepted", "done"]) }
    }

    /// Makes a table whose ids the backend was seen to assign, before a client writes to it.
    public func noteIntegerIDs(of table: TableName) async throws(StoreError) {
        try await write { transaction in
            var record = try transaction.tables.make(table, idKind: .integer)
            try IDKinds(transaction: transaction).adoptIntegerIDs(&record)
        }
    }
}
