import Storage
import TablesProtocol

/// What is done to all operations that match a filter.
public enum BulkAction: String, Sendable, Hashable { case retry, discard }

/// What a bulk action did, or would do.
public struct BulkOutcome: Sendable, Hashable {
    /// Operations that match.
    public var matched: Int
    /// Operations it was done to; 0 in a dry run.
    public var done: Int
    /// Operations it cannot be done to.
    public var refused: Int
}

/// What a bulk action did to one part of the operations that match.
public struct BulkPart: Sendable, Hashable {
    /// The operations that it was done to.
    public var done: [OperationID]
    /// How many it could not be done to.
    public var refused: Int
    /// What to pass as `after` for the next part; nil at the end. Opaque.
    public var next: String?
}

// Bulk actions a part at a time, for a person who watches, may stop, and may take it back.
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
        let found = try await search {
            try OperationLists(transaction: $0).latest(filter, before: before, limit: limit + 1)
        }
        let part = found.prefix(limit)
        let done = try await write { transaction in
            try part.map(\.id).filter { id in
                let outcome =
                    switch action {
                    case .retry:
                        try OperationActions(transaction: transaction).retry(id, revision: nil)
                    case .discard:
                        try Discarding(transaction: transaction).discard(id, revision: nil)
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
                    guard let entry = try transaction.history.decision(about: id) else {
                        return false
                    }
                    return try EntryUndo(transaction: transaction).undo(entry).isDone
                }
            }
        }
        outcome.refused = outcome.matched - outcome.done
        return outcome
    }
}

extension ActionOutcome {
    /// Whether it was done.
    fileprivate var isDone: Bool { if case .done = self { true } else { false } }
}
