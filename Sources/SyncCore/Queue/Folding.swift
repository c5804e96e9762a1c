import TablesProtocol

/// Merges successors into the operation before them.
struct Folding {
    let transaction: Transaction
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var tables: TableRecords { transaction.tables }
    private var rebase: Rebase { Rebase(transaction: transaction) }

    /// Merges an operation's successors into it, once the backend is known not to have applied it.
    ///
    /// 1. The successors are merged one after the other, as ``Collapse`` decides for a new write. The
    ///    successors of a merged operation become those of the operation.
    /// 2. Two operations that undo each other both close, if nothing else follows.
    /// 3. A successor that overlaps with another writer's change is not merged. The operation already
    ///    starts from that change, so a merge would hide the overlap. The successor is judged when it is
    ///    sent.
    /// 4. An operation that no longer changes anything closes, and its successors are sent instead.
    ///
    /// - Parameter acrossInserts: whether updates also move back across a later insert of another item.
    func fold(
        _ operation: inout TableOperation, _ row: inout ItemRow, acrossInserts: Bool = false
    ) throws {
        guard !operation.mayHaveReached, let table = try tables.table(id: operation.tableID)
        else { return }
        folding: while var next = try queue.successor(of: operation.seq) {
            if next.overlapsChange(before: operation) { break }
            var rules = try queue.collapseRules(
                operation, next.kind, before: next.seq, in: table)
            if acrossInserts { rules.crossesInsert = false }
            let decision = Collapse.decide(
                pending: Collapse.Pending(operation), new: next.kind, rules)
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
                if operation.kind == .undelete {
                    row.takeShadow()
                    row.unsent = UnsentChange(mergedInto: next)
                }
                row.pending = nil
                row.shadow = nil
                return try items.save(&row)
            case .change(let kind):
                let left = try columns(after: next, row)
                try merge(&next, into: operation, reason: "Merged into the one before.")
                operation.kind = kind
                operation.setChange(to: left)
                operation.conditional = operation.conditional || next.conditional
                operation.headers.override(with: next.headers)
                if operation.state == .quarantined { try queue.requeue(&operation, nil) }
                try queue.save(&operation)
            }
        }
        guard operation.changesNothing, operation.state != .sending else { return }
        let rest = try queue.successors(of: operation.seq)
        try queue.close(&operation, .collapsed, reason: "Changed back before it was sent.")
        try rebase.move(&row, rest, onto: ServerSide(shadowOf: row))
    }

    /// Closes an operation that was merged into the one before it, and attaches its successor to that one.
    private func merge(
        _ next: inout TableOperation, into operation: TableOperation, reason: String
    ) throws {
        let following = try queue.successor(of: next.seq)
        try queue.close(&next, .collapsed, reason: reason)
        guard var following, !transaction.has(.foldOrphansSuccessor) else { return }
        following.successorOf = operation.seq
        try queue.save(&following)
    }

    /// The item's columns after an operation: the base of its successor, else the row's.
    private func columns(after operation: TableOperation, _ row: ItemRow) throws -> Columns {
        try queue.successor(of: operation.seq)?.baseRow ?? row.columns
    }
}

extension TableOperation {
    /// Whether the client saw a row that differs from what the operation before leaves. Only columns that
    /// this operation changes count; for a delete, all columns.
    fileprivate func overlapsChange(before operation: TableOperation) -> Bool {
        guard let baseRow else { return false }
        let left = Rebase.desiredColumns(operation, over: ServerSide(columns: operation.baseRow))
        let names = baseRow.changedNames(from: left)
        return kind == .delete ? !names.isEmpty : names.contains { changedColumns.contains($0) }
    }
}
