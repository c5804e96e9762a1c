import Storage
import TablesProtocol

/// What a bulk action does to each operation that matches a filter.
public enum BulkAction: Sendable, Hashable {
    case retry, discard
    /// Decides each conflict, and holds back for so long what is left to send. Operations in other states do
    /// not match.
    case resolve(Resolution, holdSeconds: Int = 0)

    func selection(of filter: OperationFilter) -> OperationFilter {
        guard case .resolve = self else { return filter }
        var conflicts = filter
        conflicts.states = [.conflict]
        return conflicts
    }

    func perform(on id: OperationID, in transaction: Transaction) throws -> ActionOutcome {
        switch self {
        case .retry: return try OperationActions(transaction: transaction).retry(id, revision: nil)
        case .discard: return try Discarding(transaction: transaction).discard(id, revision: nil)
        case .resolve(let resolution, let holdSeconds):
            guard let operation = try transaction.queue.operation(id: id) else { return .notFound }
            return try Resolving(transaction: transaction, holdSeconds: holdSeconds).resolve(
                id, revision: operation.revision, resolution)
        }
    }
}

/// The counts of a bulk action, or of its dry run.
public struct BulkOutcome: Sendable, Hashable {
    public var matched: Int
    /// The number of operations that were changed; 0 in a dry run.
    public var done: Int
    /// The number of operations that could not be changed.
    public var refused: Int
}

/// What a bulk action did to one part of the matching operations.
public struct BulkPart: Sendable, Hashable {
    public var done: [OperationID]
    /// The number of operations that could not be changed.
    public var refused: Int
    /// The value of `after` for the next part; nil after the last part. Opaque.
    public var next: String?
}

extension Store {
    /// Applies the action to every matching operation, in transactions of at most
    /// ``StoreLimits/groupWrites`` operations. The latest go first, so that a successor is discarded before
    /// its predecessor. An operation to which it cannot be done, such as a delete that is to be merged, stays
    /// and is counted.
    public func bulk(
        _ action: BulkAction, _ filter: OperationFilter, dryRun: Bool
    ) async throws(StoreError) -> BulkOutcome {
        let filter = action.selection(of: filter)
        let ids = try await read { try OperationLists(transaction: $0).ids(filter) }
        var outcome = BulkOutcome(matched: ids.count, done: 0, refused: 0)
        if dryRun { return outcome }
        var rest = ids[...]
        while !rest.isEmpty {
            let batch = rest.prefix(StoreLimits.groupWrites)
            rest = rest.dropFirst(batch.count)
            let done = try await write { transaction in
                try batch.count { try action.perform(on: $0, in: transaction).isDone }
            }
            outcome.done += done
            outcome.refused += batch.count - done
        }
        return outcome
    }
}

// Bulk actions in parts, so that a person can watch the progress, stop, and undo.
extension Store {
    /// Applies the action to the next matching operations, latest first, in one transaction. An operation
    /// to which it cannot be done, such as a delete that is to be merged, stays and is counted.
    /// - Parameters:
    ///   - after: `next` of the previous part; nil for the first part.
    ///   - limit: the most operations in the part, 1 to ``StoreLimits/groupWrites``.
    public func bulkPart(
        _ action: BulkAction, _ filter: OperationFilter, after: String?, limit: Int
    ) async throws(StoreError) -> BulkPart {
        let filter = action.selection(of: filter)
        let limit = min(max(limit, 1), StoreLimits.groupWrites)
        let before = after.flatMap(Cursor.number) ?? .max
        let found = try await search {
            try OperationLists(transaction: $0).latest(filter, before: before, limit: limit + 1)
        }
        let part = found.prefix(limit)
        let done = try await write { transaction in
            try part.map(\.id).filter { try action.perform(on: $0, in: transaction).isDone }
        }
        return BulkPart(
            done: done, refused: part.count - done.count,
            next: found.count > limit ? part.last.map { Cursor.text($0.seq) } : nil)
    }

}

extension ActionOutcome {
    var isDone: Bool { if case .done = self { true } else { false } }
}
