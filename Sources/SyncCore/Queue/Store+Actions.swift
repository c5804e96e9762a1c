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

    /// Undoes an entry of history by a new write.
    public func undo(_ entry: Int64) async throws(StoreError) -> ActionOutcome {
        try await write { try EntryUndo(transaction: $0).undo(entry) }
    }
}
