import Storage
import TablesProtocol

extension Transaction {
    /// Forgets the rows of a table that match, in one transaction.
    ///
    /// 1. Open operations forbid it, unless it is forced; one on its way forbids it even then.
    /// 2. Forced, the operations of the rows are given up, the latest first, each into history, from
    ///    where each can be brought back, or all of them with the purge.
    /// 3. The rows go without tombstones: this is forgetting, not deleting.
    /// 4. Every token goes, so that the next pull brings back what is still there.
    func purge(_ name: TableName, _ query: TableQuery, force: Bool) throws -> PurgeOutcome {
        guard var table = try table(name) else { return .unknownTable }
        let open = try openOperations(of: table)
        guard open.isEmpty || force else { return .refusedPending(open.count) }
        guard !open.contains(where: { $0.state == .sending }) else { return .refusedSending }
        let matching = try matching(query, in: table)
        var discarded = 0
        for operation in open.reversed() where matching?.contains(operation.itemID.text) ?? true {
            _ = try discard(operation.id, revision: nil)
            discarded += 1
        }
        let items = try forget(matching, of: table)
        try removeTokens(of: table)
        table.isComplete = false
        try save(table)
        try record(
            .purged, actor: .person, tableID: table.id,
            summary: "Forgot \(items) items and gave up \(discarded) changes.",
            undoable: discarded > 0)
        emit(.item, table: table.name)
        return .purged(items: items, discarded: discarded)
    }

    private func openOperations(of table: TableRecord) throws -> [TableOperation] {
        let states = OperationState.open.map { "'\($0.rawValue)'" }.sorted().joined(separator: ",")
        let seqs: [Int64] = try column(
            "SELECT seq FROM operations WHERE table_id = ? AND state IN (\(states)) ORDER BY seq",
            [table.id])
        return try seqs.compactMap { try operation(seq: $0) }
    }

    /// The ids that match; nil for a query without a filter, which means all.
    private func matching(_ query: TableQuery, in table: TableRecord) throws -> Set<String>? {
        guard query.filter != nil else { return nil }
        let page = ItemQuery(
            query, table: table, pageRows: SyncLimits.purgeRows, now: now
        ).page
        return Set(try column(page.text, page.arguments, keep: false))
    }

    private func forget(_ ids: Set<String>?, of table: TableRecord) throws -> Int {
        guard let ids else {
            try run("DELETE FROM items WHERE table_id = ? AND pending IS NULL", [table.id])
            return db.changedRows
        }
        var count = 0
        for id in ids.sorted() {
            try run(
                "DELETE FROM items WHERE table_id = ? AND id = ? AND pending IS NULL",
                [table.id, id])
            count += db.changedRows
        }
        return count
    }
}
