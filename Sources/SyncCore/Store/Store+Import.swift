public import TablesProtocol

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
