import Storage
import TablesProtocol

// Bulk actions a part at a time, for somebody who watches, may stop, and may take it back.
extension Store {
    /// Does the same to the next operations that match, latest first, in one transaction.
    /// - Parameters:
    ///   - after: the `next` of the part before; nil for the first.
    ///   - limit: operations in the part; at most ``StoreLimits/groupWrites``.
    public func bulkPart(
        _ action: BulkAction, _ filter: OperationFilter, after: String?, limit: Int
    ) async throws(StoreError) -> BulkPart {
        let limit = min(max(limit, 1), StoreLimits.groupWrites)
        let before = after.flatMap(Cursor.number) ?? .max
        let found = try await search { try $0.operations(filter, before: before, limit: limit + 1) }
        let part = found.prefix(limit)
        let done = try await write { transaction in
            try part.map(\.id).filter { id in
                let outcome =
                    switch action {
                    case .retry: try transaction.retry(id, revision: nil)
                    case .discard: try transaction.discard(id, revision: nil)
                    }
                return outcome.isDone
            }
        }
        return BulkPart(
            done: done, refused: part.count - done.count,
            next: found.count > limit ? part.last.map { Cursor.text($0.seq) } : nil)
    }

    /// Undoes the latest decision about each of these operations that can be undone: a conflict
    /// that was settled, or an operation that was discarded. It goes in the order given, which begins
    /// with what was decided last.
    public func undoDecisions(
        _ operations: [OperationID]
    ) async throws(StoreError) -> BulkOutcome {
        var outcome = BulkOutcome(matched: operations.count, done: 0, refused: 0)
        for start in stride(from: 0, to: operations.count, by: StoreLimits.groupWrites) {
            let part = operations[start..<min(start + StoreLimits.groupWrites, operations.count)]
            outcome.done += try await write { transaction in
                try part.count { id in
                    guard let entry = try transaction.decision(about: id) else { return false }
                    return try transaction.undo(entry).isDone
                }
            }
        }
        outcome.refused = outcome.matched - outcome.done
        return outcome
    }
}

extension Transaction {
    /// The ids and places of the operations that match before a place in the order, latest first.
    fileprivate func operations(
        _ filter: OperationFilter, before seq: Int64, limit: Int
    ) throws -> [(id: OperationID, seq: Int64)] {
        let (sql, values) = filter.condition
        return try all(
            """
            SELECT op_id, seq FROM \(filter.source)
            WHERE seq < ? AND \(sql) ORDER BY seq DESC LIMIT ?
            """, [seq] + values + [limit], keep: false
        ) { ($0[0] as OperationID, $0[1] as Int64) }
    }

    /// The entry of history with the latest decision about an operation that can be undone.
    fileprivate func decision(about id: OperationID) throws -> Int64? {
        try integer(
            """
            SELECT max(id) FROM history WHERE op_id = ? AND undoable = 1
              AND kind IN ('resolved', 'discarded') AND undone_by IS NULL
            """, [id])
    }
}

extension ActionOutcome {
    /// Whether it was done.
    fileprivate var isDone: Bool { if case .done = self { true } else { false } }
}
