public import TablesProtocol

// A person's actions, each in one transaction. An action names the revision that the person saw. If the
// operation has another revision by now, the outcome is `changed`.
extension Store {
    /// Makes an operation due now.
    public func retry(
        _ id: OperationID, revision: Int? = nil
    ) async throws(StoreError) -> ActionOutcome {
        try await write { try OperationActions(transaction: $0).retry(id, revision: revision) }
    }

    /// Discards an operation. The item becomes the last known row of the backend, or what the operation
    /// before this one leaves.
    public func discard(
        _ id: OperationID, revision: Int? = nil
    ) async throws(StoreError) -> ActionOutcome {
        try await write { try Discarding(transaction: $0).discard(id, revision: revision) }
    }

    /// Sets columns of the operation's item and sends them with the operation.
    public func edit(
        _ id: OperationID, revision: Int, columns: Columns
    ) async throws(StoreError) -> ActionOutcome {
        try await write {
            try OperationActions(transaction: $0).edit(id, revision: revision, columns)
        }
    }

    /// Applies a person's decision about a conflict.
    public func resolve(
        _ id: OperationID, revision: Int, _ resolution: Resolution
    ) async throws(StoreError) -> ActionOutcome {
        try await write {
            try Resolving(transaction: $0).resolve(id, revision: revision, resolution)
        }
    }

    /// Applies one decision to every matching conflict, in transactions of at most
    /// ``StoreLimits/groupWrites`` operations. Conflicts for which the decision is impossible, such as the
    /// merge of a delete, stay and are counted.
    /// - Parameter filter: its states are ignored.
    public func resolveAll(
        _ filter: OperationFilter, _ resolution: Resolution, dryRun: Bool
    ) async throws(StoreError) -> BulkOutcome {
        var conflicts = filter
        conflicts.states = [.conflict]
        return try await each(conflicts, dryRun: dryRun) { transaction, id in
            guard let revision = try transaction.queue.operation(id: id)?.revision else {
                return .notFound
            }
            return try Resolving(transaction: transaction).resolve(
                id, revision: revision, resolution)
        }
    }

    /// Undoes an entry of history by a new write.
    public func undo(_ entry: Int64) async throws(StoreError) -> ActionOutcome {
        try await write { try EntryUndo(transaction: $0).undo(entry) }
    }

    /// Applies an action to every matching operation, in transactions of at most
    /// ``StoreLimits/groupWrites`` operations. The latest go first, so that a successor is discarded before
    /// its predecessor.
    public func bulk(
        _ action: BulkAction, _ filter: OperationFilter, dryRun: Bool
    ) async throws(StoreError) -> BulkOutcome {
        try await each(filter, dryRun: dryRun) { transaction, id in
            switch action {
            case .retry: try OperationActions(transaction: transaction).retry(id, revision: nil)
            case .discard: try Discarding(transaction: transaction).discard(id, revision: nil)
            }
        }
    }

    private func each(
        _ filter: OperationFilter, dryRun: Bool,
        _ act: @escaping @Sendable (Transaction, OperationID) throws -> ActionOutcome
    ) async throws(StoreError) -> BulkOutcome {
        let ids = try await read { try OperationLists(transaction: $0).ids(filter) }
        var outcome = BulkOutcome(matched: ids.count, done: 0, refused: 0)
        if dryRun { return outcome }
        var rest = ids[...]
        while !rest.isEmpty {
            let batch = rest.prefix(StoreLimits.groupWrites)
            rest = rest.dropFirst(batch.count)
            let done = try await write { transaction in
                try batch.count(where: { id in
                    if case .done = try act(transaction, id) { return true }
                    return false
                })
            }
            outcome.done += done
            outcome.refused += batch.count - done
        }
        return outcome
    }
}
