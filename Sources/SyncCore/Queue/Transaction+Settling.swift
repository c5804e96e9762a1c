import TablesProtocol

extension Transaction {
    /// Commits what became of an operation: operation, attempt, row, base, successors and history
    /// together.
    ///
    /// 1. The attempt ends with what the backend said.
    /// 2. An insert's id becomes the one that the backend assigned, if that is another one.
    /// 3. The operation and its item take the outcome; what was written meanwhile starts from it.
    /// 4. An answer with a number as the id shows what the table's ids are.
    ///
    /// - Returns: the state that the operation got; its present one when it was closed already.
    @discardableResult
    func settle(
        _ seq: Int64, _ outcome: SettledOutcome, attempt: AttemptEnd?
    ) throws -> OperationState {
        guard var operation = try operation(seq: seq), operation.state.isOpen,
            var table = try table(id: operation.tableID)
        else { return try self.operation(seq: seq)?.state ?? .discarded }
        operation.lastStatus = attempt == nil ? operation.lastStatus : attempt?.status
        operation.lastError = attempt == nil ? operation.lastError : attempt?.error
        var outcome = outcome
        if case .applied(let remote?, _) = outcome, remote.id != operation.itemID,
            operation.kind == .insert
        {
            if try remap(operation, to: remote.id, table) {
                operation.itemID = remote.id
            } else {
                outcome = .quarantined(
                    reason:
                        "The backend answered with \(remote.id), an item that has changes here.",
                    maybeApplied: true)
            }
        }
        var row =
            try row(table, exactly: operation.itemID)
            ?? ItemRow(new: operation.itemID, tableID: table.id)
        let state = try take(outcome, &operation, &row, table)
        if let attempt { try end(operation, attempt, state) }
        if state.isOpen {
            try tellWaiting(for: operation)
            emit(state == .conflict ? .conflict : .operation, operation)
        }
        emit(.item, operation)
        if case .applied(let remote?, _) = outcome, remote.id.kind == .integer {
            try adoptIntegerIDs(&table)
        }
        return state
    }

    private func take(
        _ outcome: SettledOutcome, _ operation: inout TableOperation, _ row: inout ItemRow,
        _ table: TableRecord
    ) throws -> OperationState {
        switch outcome {
        case .applied(let remote, let origin):
            try applied(&operation, &row, remote, origin, table)
        case .waiting(let reason, let until, let maybeApplied, let isAsked):
            try wait(&operation, .waiting, reason, until, maybeApplied: maybeApplied)
            if isAsked { try keepUntil(operation) }
            try fold(&operation, &row)
        case .unknown(let reason, let until, let isAsked):
            try wait(&operation, .unknown, reason, until, maybeApplied: true)
            if isAsked { try keepUntil(operation) }
        case .rebased(let remote, let reason):
            try rebased(&operation, &row, remote, reason, table)
        case .conflict(let remote, let reason):
            try conflict(&operation, &row, remote, reason, table)
        case .quarantined(let reason, let maybeApplied):
            try wait(&operation, .quarantined, reason, nil, maybeApplied: maybeApplied)
            try record(.quarantined, actor: .engine, operation, summary: reason)
            try fold(&operation, &row)
        case .discarded(let remote, let reason):
            try giveUp(
                &operation, &row, for: try side(remote, in: table), by: .engine, reason: reason)
        }
        return operation.state
    }

    private func applied(
        _ operation: inout TableOperation, _ row: inout ItemRow, _ remote: RemoteRow?,
        _ origin: RowOrigin, _ table: TableRecord
    ) throws {
        let expected =
            operation.kind == .delete
            ? nil : Rebase.wanted(operation, over: ServerSide(columns: operation.baseRow))
        let server = try settled(operation, row, remote, isWhole: origin.isWhole, table)
        let before = row.visible
        let successors = try successors(of: operation.seq)
        try close(&operation, .done)
        row.settledAt = try nextChange()
        // What is deleted for good was the backend's row, and comes back as that.
        if operation.kind == .delete, successors.isEmpty {
            row.columns = row.shadow ?? row.columns
        }
        try rebase(
            &row, successors, onto: server,
            after: ChainSides.Predecessor(
                kind: operation.kind, expected: expected, isOwnAnswer: origin.isOwnAnswer))
        try record(
            .sent, actor: .engine, operation, before: before,
            after: server.isLive ? server.columns : nil, summary: "The backend has it.")
    }

    /// What the backend has after it took the operation: its answer laid over what was sent.
    private func settled(
        _ operation: TableOperation, _ row: ItemRow, _ remote: RemoteRow?, isWhole: Bool,
        _ table: TableRecord
    ) throws -> ServerSide {
        if operation.kind == .delete {
            // A server that deletes for good may answer with the row as it was.
            guard let remote, remote.isDeleted else { return .none }
            var server = try side(remote, in: table)
            if server.columns?.isEmpty ?? true { server.columns = operation.baseRow }
            return server
        }
        var sent = Rebase.wanted(operation, over: ServerSide(shadowOf: row))
        guard let remote else { return ServerSide(columns: sent) }
        var server = try side(remote, in: table)
        if !isWhole, let answer = server.columns {
            sent.merge(answer)
            server.columns = sent
        }
        return server
    }

    private func wait(
        _ operation: inout TableOperation, _ state: OperationState, _ reason: String,
        _ until: Instant?, maybeApplied: Bool
    ) throws {
        operation.state = state
        operation.reason = reason
        operation.nextAttemptAt = until
        operation.maybeApplied = maybeApplied
        operation.mayArriveLate = operation.mayArriveLate || maybeApplied
        try save(&operation)
    }

    /// Notes that the backend named the time of the next attempt: no one may try it sooner.
    private func keepUntil(_ operation: TableOperation) throws {
        try run(
            "UPDATE operations SET not_before = next_attempt_at WHERE seq = ?", [operation.seq])
    }

    private func rebased(
        _ operation: inout TableOperation, _ row: inout ItemRow, _ remote: RemoteRow?,
        _ reason: String, _ table: TableRecord
    ) throws {
        let before = row.visible
        let successors = try successors(of: operation.seq)
        try requeue(&operation, reason)
        row.settledAt = try nextChange()
        try rebase(
            &row, [operation] + successors, onto: try side(remote, in: table), isDecided: true)
        operation = try self.operation(seq: operation.seq) ?? operation
        try record(
            .merged, actor: .engine, operation, before: before, after: row.visible,
            summary: reason)
    }

    private func conflict(
        _ operation: inout TableOperation, _ row: inout ItemRow, _ remote: RemoteRow?,
        _ reason: String, _ table: TableRecord
    ) throws {
        let server = try side(remote, in: table)
        try wait(&operation, .conflict, reason, nil, maybeApplied: false)
        row.shadow = server.columns
        row.serverVersion = server.version
        row.serverUpdatedAt = server.updatedAt
        row.serverDeleted = server.isDeleted
        row.settledAt = try nextChange()
        try save(&row)
        try record(
            .conflict, actor: .engine, operation, before: row.visible,
            after: server.isLive ? server.columns : nil, summary: reason)
        try fold(&operation, &row)
    }
}
