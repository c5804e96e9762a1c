import TablesProtocol

extension Transaction {
    /// One entry of history.
    func historyEntry(_ id: Int64) throws -> HistoryRow? {
        try first("SELECT \(HistoryRow.columns) FROM history WHERE id = ?", [id], HistoryRow.init)
    }

    /// A page of history, latest first.
    func history(before id: Int64, limit: Int) throws -> Page<HistoryEntry> {
        let found = try all(
            """
            SELECT \(HistoryEntry.columns) FROM history
            LEFT JOIN tables ON tables.id = history.table_id
            LEFT JOIN operations ON operations.op_id = history.op_id
            WHERE history.id < ? ORDER BY history.id DESC LIMIT ?
            """, [id, limit + 1], HistoryEntry.init)
        let items = Array(found.prefix(limit))
        return Page(
            items: items, next: found.count > limit ? items.last.map { Cursor.text($0.id) } : nil,
            total: Int(try integer("SELECT count(*) FROM history") ?? 0))
    }
}
