import TablesProtocol

extension Transaction {
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
        let preservesHistory = try table(id: operation.tableID)?.preservesHistory ?? false
        folding: while var next = try successor(of: operation.seq) {
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
                guard try successor(of: next.seq) == nil else { break folding }
                try close(&next, .collapsed, reason: "Deleted before the backend had it.")
                try close(&operation, .collapsed, reason: "Deleted before the backend had it.")
                row.pending = nil
                row.shadow = nil
                return try save(&row)
            case .change(let kind):
                let left = try columns(after: next, row)
                try merge(&next, into: operation, reason: "Merged into the one before.")
                operation.kind = kind
                operation.take(left)
                operation.conditional = operation.conditional || next.conditional
                operation.headers.take(next.headers)
                if operation.state == .quarantined { try requeue(&operation, nil) }
                try save(&operation)
            }
        }
        guard operation.changesNothing, operation.state != .sending else { return }
        let rest = try successors(of: operation.seq)
        try close(&operation, .collapsed, reason: "Changed back before it was sent.")
        try rebase(&row, rest, onto: ServerSide(shadowOf: row))
    }

    /// Closes an operation that is merged into the one before it; what followed it follows that one.
    private func merge(
        _ next: inout TableOperation, into operation: TableOperation, reason: String
    ) throws {
        let following = try successor(of: next.seq)
        try close(&next, .collapsed, reason: reason)
        guard var following, !has(.foldOrphansSuccessor) else { return }
        following.successorOf = operation.seq
        try save(&following)
    }

    /// The item's columns as an operation leaves them: the base of what follows it, else the row's.
    private func columns(after operation: TableOperation, _ row: ItemRow) throws -> Columns {
        try successor(of: operation.seq)?.baseRow ?? row.columns
    }

    /// Makes an operation due again from the start.
    func requeue(_ operation: inout TableOperation, _ reason: String?) throws {
        operation.state = .queued
        operation.reason = reason
        operation.nextAttemptAt = nil
        operation.maybeApplied = false
        try save(&operation)
    }

    /// Ends an operation without effect; its item becomes the backend's, with what follows on top.
    func giveUp(
        _ operation: inout TableOperation, _ row: inout ItemRow, for server: ServerSide,
        by actor: Actor, reason: String, kind: HistoryEntry.Kind = .discarded,
        copy: ItemID? = nil
    ) throws {
        let before = row.visible
        var point = UndoPoint(operation, row, server)
        point.copy = copy
        let successors = try successors(of: operation.seq)
        try close(&operation, .discarded, reason: reason)
        // A row that was never sent stays one: to write it again is an insert.
        if row.isOnBackend || operation.maybeApplied || server.columns != nil {
            // A person has learned nothing newer of the backend: a page under way still counts.
            let isOfBackend = try actor == .engine || changeCount() == 0
            row.settledAt = isOfBackend ? try nextChange() : max(row.settledAt, 1)
        }
        try rebase(&row, successors, onto: server)
        if row.deleted, has(.discardKeepsRow) {
            row.deleted = false
            try save(&row)
        }
        try record(
            kind, actor: actor, operation, before: before, after: row.visible, summary: reason,
            point: point)
    }

    /// The backend's side as a row says it, in the table's spelling.
    func side(_ remote: RemoteRow?, in table: TableRecord) throws -> ServerSide {
        let columns = try remote.map {
            try respell($0.columns, in: table, shared: $0.sharesColumns)
        }
        return ServerSide(remote, columns: columns)
    }

    /// Counts a committed push outcome, so that a page asked for earlier does not undo it.
    func nextChange() throws -> Int64 {
        let next = try changeCount() + 1
        setAside.changes = next
        return next
    }

    /// The counter of committed push outcomes: read before a page is asked for, given to ``apply``.
    func changeCount() throws -> Int64 {
        try setAside.changes ?? integer("SELECT value FROM meta WHERE key = 'changes'") ?? 0
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
