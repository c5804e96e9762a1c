import Storage
import TablesProtocol

/// What a bulk action does to each operation that matches a filter.
public enum BulkAction: String, Sendable, Hashable { case retry, discard }

/// The counts of a bulk action, or of its dry run.
public struct BulkOutcome: Sendable, Hashable {
    /// The number of operations that match.
    public var matched: Int
    /// The number of operations that were changed; 0 in a dry run.
    public var done: Int
    /// The number of operations that could not be changed.
    public var refused: Int
}

/// What a bulk action did to one part of the matching operations.
public struct BulkPart: Sendable, Hashable {
    /// The operations that were changed.
    public var done: [OperationID]
    /// The number of operations that could not be changed.
    public var refused: Int
    /// The value of `after` for the next part; nil after the last part. Opaque.
    public var next: String?
}

// Bulk actions in parts, so that a person can watch the progress, stop, and undo.
extension Store {
    /// Applies the action to the next matching operations, latest first, in one transaction.
    /// - Parameters:
    ///   - after: `next` of the previous part; nil for the first part.
    ///   - limit: the most operations in the part, 1 to ``StoreLimits/groupWrites``.
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

    /// Undoes the latest decision about each of these operations, where it can be undone: a settled
    /// conflict or a discarded operation.
    /// - Parameter operations: in the order of the undo, the one that was decided last first.
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
    /// Whether the action was done.
    fileprivate var isDone: Bool { if case .done = self { true } else { false } }
}
