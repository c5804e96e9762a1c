public import TablesProtocol

// What a person does: one transaction each. An action names the revision that it was decided on and
// is answered `changed` when the operation is another one by now.
extension Store {
    /// Makes an operation due now.
    public func retry(
        _ id: OperationID, revision: Int? = nil
    ) async throws(StoreError) -> ActionOutcome {
        try await write { try OperationActions(transaction: $0).retry(id, revision: revision) }
    }

    /// Gives an operation up; its item becomes what was last known of the backend.
    public func discard(
        _ id: OperationID, revision: Int? = nil
    ) async throws(StoreError) -> ActionOutcome {
        try await write { try Discarding(transaction: $0).discard(id, revision: revision) }
    }

    /// Lays columns over the operation's item and makes them what is sent.
    public func edit(
        _ id: OperationID, revision: Int, columns: Columns
    ) async throws(StoreError) -> ActionOutcome {
        try await write {
            try OperationActions(transaction: $0).edit(id, revision: revision, columns)
        }
    }

    /// Settles a conflict.
    public func resolve(
        _ id: OperationID, revision: Int, _ resolution: Resolution
    ) async throws(StoreError) -> ActionOutcome {
        try await write {
            try Resolving(transaction: $0).resolve(id, revision: revision, resolution)
        }
    }

    /// Settles all conflicts that match in the same way, in transactions of bounded size. Those to
    /// which the choice does not apply, a merge of a deletion for example, are left and counted.
    /// - Parameter filter: its states are not looked at.
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

    /// Does the same to all operations that match, in transactions of bounded size; discards the
    /// latest first, so that what builds on a change goes before it.
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
