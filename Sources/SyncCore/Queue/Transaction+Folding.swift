import TablesProtocol

extension Transaction {
    /// Merges what was written while an operation was being sent into it, now that the backend is
    /// known not to have acted on it.
    func fold(_ operation: inout TableOperation, _ row: inout ItemRow) throws {
        guard !operation.mayHaveReached else { return }
        for var next in try successors(of: operation.seq) {
            let decision = Collapse.decide(
                pending: Collapse.Pending(operation), new: next.kind,
                preservesHistory: try table(id: operation.tableID)?.preservesHistory ?? false)
            switch decision {
            case .append, .successor, .refuse:
                return
            case .nothing:
                try close(&next, .collapsed, reason: "Already so.")
            case .cancel:
                try close(&next, .collapsed, reason: "Deleted before the backend had it.")
                try close(&operation, .collapsed, reason: "Deleted before the backend had it.")
                row.pending = nil
                row.shadow = nil
                return try save(&row)
            case .change(let kind):
                try close(&next, .collapsed, reason: "Merged into the one before.")
                operation.kind = kind
                operation.take(row.columns)
                operation.conditional = operation.conditional || next.conditional
                if operation.state == .quarantined { try requeue(&operation, nil) }
                try save(&operation)
            }
        }
        if operation.changesNothing, operation.state != .sending {
            let before = row
            try close(&operation, .collapsed, reason: "Changed back before it was sent.")
            takeShadow(&row)
            try turn(&row, from: before, version: row.serverVersion, holds: false)
        }
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
        by actor: Actor, reason: String, kind: HistoryEntry.Kind = .discarded
    ) throws {
        let before = row.visible
        let successors = try successors(of: operation.seq)
        try close(&operation, .discarded, reason: reason)
        row.settledAt = try nextChange()
        try rebase(&row, successors, onto: server, holds: false)
        try record(
            kind, actor: actor, operation, before: before, after: row.visible, summary: reason,
            undoable: true, serverVersion: row.serverVersion)
    }

    /// The backend's side as a row says it, in the table's spelling.
    func side(_ remote: RemoteRow?, in table: TableRecord) throws -> ServerSide {
        ServerSide(remote, columns: try remote.map { try respell($0.columns, in: table) })
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
