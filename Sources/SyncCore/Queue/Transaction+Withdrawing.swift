import TablesProtocol

extension Transaction {
    /// Gives up an operation that the backend refuses while its client still waits for the answer:
    /// a client that is told the refusal was promised nothing.
    ///
    /// 1. What may have taken effect stays, and what another change follows.
    /// 2. So does an operation in which another write of the item is: its client was promised it.
    /// 3. The item becomes the backend's again.
    ///
    /// - Returns: whether it was given up; otherwise a person decides.
    func withdraw(_ id: OperationID) throws -> Bool {
        guard case .operation(var operation, _, var row) = try find(id, revision: nil),
            operation.state == .quarantined || operation.state == .conflict,
            !operation.maybeApplied, !operation.mayArriveLate, operation.successorOf == nil,
            try successor(of: operation.seq) == nil, try writesSince(operation) == 1
        else { return false }
        try giveUp(
            &operation, &row, for: ServerSide(shadowOf: row), by: .engine,
            reason: "The backend refused it, and the client that waited was told so.")
        emit(.operation, operation)
        emit(.item, operation)
        return true
    }

    /// How often the operation's item was written since the operation began.
    private func writesSince(_ operation: TableOperation) throws -> Int {
        let count = try integer(
            """
            SELECT count(*) FROM history
            WHERE at >= ? AND kind = 'write' AND table_id = ? AND item_id = ?
            """, [operation.createdAt.milliseconds, operation.tableID, operation.itemID.text])
        return Int(count ?? 0)
    }
}

extension Store {
    /// Gives up an operation that the backend refuses, before the client that waits for its verdict is
    /// told so. Returns whether it was; false where more than the client's one write is at stake.
    public func withdraw(_ id: OperationID) async throws(StoreError) -> Bool {
        try await write { try $0.withdraw(id) }
    }
}
