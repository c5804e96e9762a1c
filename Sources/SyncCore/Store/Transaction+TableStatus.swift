import TablesProtocol

extension Transaction {
    /// Every table as the operator sees it, by name.
    func tableStatuses() throws -> [TableStatus] {
        try tables().map { try status($0) }
    }

    /// One table as the operator sees it.
    func status(_ table: TableRecord) throws -> TableStatus {
        let items = try integer(
            "SELECT live_items FROM table_counters WHERE table_id = ?", [table.id])
        let pending = try integer(
            """
            SELECT sum(count) FROM state_counts
            WHERE table_id = ? AND state NOT IN ('done', 'discarded', 'collapsed')
            """, [table.id])
        let setAside = try setAsideCount(of: table.id)
        return TableStatus(
            name: table.name.text, items: Int(items ?? 0), pending: Int(pending ?? 0),
            isComplete: table.isComplete, lastPull: table.lastPullAt,
            readPolicy: table.readPolicy, writePolicy: table.writePolicy,
            conflictPolicy: table.conflictPolicy, unconditionalPolicy: table.unconditionalPolicy,
            isPublic: table.isPublic, idKind: table.idKind, paging: table.paging,
            parents: table.parents, preservesHistory: table.preservesHistory,
            warning: warning(table, setAside: setAside), pullError: table.pullError,
            pullsFailSince: table.pullsFailSince, setAside: setAside,
            indexes: try TableIndexes(self).statuses(of: table.id))
    }

    private func warning(_ table: TableRecord, setAside: Int) -> String? {
        var sentences: [String] = []
        if let error = table.pullError { sentences.append("Its pulls fail: \(error)") }
        if setAside > 0 {
            let rows =
                setAside == 1
                ? "1 row of the backend is not here, since it"
                : "\(setAside) rows of the backend are not here, since they"
            sentences.append("\(rows) cannot be taken.")
        }
        sentences += [table.warning].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }
}
