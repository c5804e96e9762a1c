import TablesProtocol

/// Merges what follows an operation into it.
struct Folding {
    let transaction: Transaction
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var tables: TableRecords { transaction.tables }
    private var rebase: Rebase { Rebase(transaction: transaction) }

    /// Merges what was written while an operation was being sent into it, now that the backend is
    /// known not to have acted on it.
    ///
    /// 1. What follows is merged in, one after the other, as ``Collapse`` says for a write that comes
    ///    now; what follows the merged one follows the operation.
    /// 2. Two that undo each other both close, if nothing else follows.
    /// 3. One that another writer's change stands against is left to be judged when its turn comes: in one
    ///    with the operation, which starts from that change already, it would go unseen.
    /// 4. An operation that no longer changes anything closes, and what follows it is sent instead.
    func fold(_ operation: inout TableOperation, _ row: inout ItemRow) throws {
        guard !operation.mayHaveReached else { return }
        let preservesHistory = try tables.table(id: operation.tableID)?.preservesHistory ?? false
        folding: while var next = try queue.successor(of: operation.seq) {
            if next.isContested(after: operation) { break }
            let decision = Collapse.decide(
                pending: Collapse.Pending(operation), new: next.kind,
                preservesHistory: preservesHistory)
            switch decision {
            case .append, .successor, .refuse:
                break folding
            case .nothing:
                try merge(&next, into: operation, reason: "Already so.")
            case .cancel:
                guard try queue.successor(of: next.seq) == nil else { break folding }
                try queue.close(&next, .collapsed, reason: "Deleted before the backend had it.")
                try queue.close(
                    &operation, .collapsed, reason: "Deleted before the backend had it.")
                row.pending = nil
                row.shadow = nil
                return try items.save(&row)
            case .change(let kind):
                let left = try columns(after: next, row)
                try merge(&next, into: operation, reason: "Merged into the one before.")
                operation.kind = kind
                operation.take(left)
                operation.conditional = operation.conditional || next.conditional
                operation.headers.take(next.headers)
                if operation.state == .quarantined { try queue.requeue(&operation, nil) }
                try queue.save(&operation)
            }
        }
        guard operation.changesNothing, operation.state != .sending else { return }
        let rest = try queue.successors(of: operation.seq)
        try queue.close(&operation, .collapsed, reason: "Changed back before it was sent.")
        try rebase.move(&row, rest, onto: ServerSide(shadowOf: row))
    }

    /// Closes an operation that is merged into the one before it; what followed it follows that one.
    private func merge(
        _ next: inout TableOperation, into operation: TableOperation, reason: String
    ) throws {
        let following = try queue.successor(of: next.seq)
        try queue.close(&next, .collapsed, reason: reason)
        guard var following, !transaction.has(.foldOrphansSuccessor) else { return }
        following.successorOf = operation.seq
        try queue.save(&following)
    }

    /// The item's columns as an operation leaves them: the base of what follows it, else the row's.
    private func columns(after operation: TableOperation, _ row: ItemRow) throws -> Columns {
        try queue.successor(of: operation.seq)?.baseRow ?? row.columns
    }
}

extension TableOperation {
    /// Whether the client that made it saw another row than the one that the operation before it leaves:
    /// in a column that it changes, or, for a deletion, in any.
    fileprivate func isContested(after operation: TableOperation) -> Bool {
        guard let baseRow else { return false }
        let left = Rebase.wanted(operation, over: ServerSide(columns: operation.baseRow))
        let names = baseRow.changedNames(from: left)
        return kind == .delete ? !names.isEmpty : names.contains { changedColumns.contains($0) }
    }
}
