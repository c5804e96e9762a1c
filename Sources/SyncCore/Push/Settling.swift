import Storage
import TablesProtocol

/// Commits what the engine decided about an operation.
struct Settling: InTransaction {
    let transaction: Transaction
    private var dependencies: Dependencies { Dependencies(transaction: transaction) }
    private var idKinds: IDKinds { IDKinds(transaction: transaction) }

    /// Commits an outcome: operation, attempt, row, base, successors and history together.
    ///
    /// 1. The attempt ends with what the backend answered.
    /// 2. An insert takes the id that the backend assigned, if it is another one, and any item the spelling of
    ///    its id in the backend's row. An operation whose item lost its id to another row meanwhile
    ///    (``AssignedIDs``) has met a row that is gone.
    /// 3. The operation and its item take the outcome. Operations that were written meanwhile start from
    ///    it.
    /// 4. An answer whose id is a number shows that the table has integer ids.
    ///
    /// - Parameter refusal: why the backend refused it before, if this was a second try: the same refusal is
    ///   not announced again.
    /// - Returns: the operation's new state; its present state if it was closed already.
    @discardableResult
    func settle(
        _ seq: Int64, _ outcome: PushOutcome, attempt: AttemptEnd?, after refusal: String? = nil
    ) throws -> OperationState {
        guard var operation = try queue.operation(seq: seq), operation.state.isOpen,
            var table = try tables.table(id: operation.tableID)
        else { return try queue.operation(seq: seq)?.state ?? .discarded }
        operation.lastStatus = attempt == nil ? operation.lastStatus : attempt?.status
        operation.lastError = attempt == nil ? operation.lastError : attempt?.error
        var outcome = outcome
        if let remote = outcome.row, remote.id != operation.itemID,
            operation.kind == .insert || remote.id.isLike(operation.itemID)
        {
            if try assignedIDs.adopt(remote, for: operation, table) {
                operation.itemID = remote.id
            } else if remote.id.isLike(operation.itemID) {
                outcome = .postponed(
                    Postponement(
                        cause: .own, maybeApplied: true,
                        reason: "A change of the item as \(remote.id) is being sent.",
                        until: transaction.now))
            } else {
                outcome = .quarantined(
                    reason: "The backend answered with \(remote.id), another item that is here.",
                    maybeApplied: true)
            }
        }
        if operation.kind != .insert, operation.itemID.kind == .integer, let id = outcome.row?.id,
            id != operation.itemID
        {
            outcome =
                operation.kind == .delete
                ? .applied(row: nil)
                : .conflict(
                    server: nil, reason: ConflictReason.sentence(operation.kind, isGone: true))
        }
        var row =
            try items.row(table, exactly: operation.itemID)
            ?? ItemRow(new: operation.itemID, tableID: table.id)
        let state = try apply(outcome, &operation, &row, table, after: refusal)
        if let attempt { try attempts.end(operation, attempt, state) }
        if state.isOpen {
            try dependencies.updateReasons(ofWaitingFor: operation)
            events.emit(state == .conflict ? .conflict : .operation, operation)
        }
        events.emit(.item, operation)
        if case .applied(let remote?, _) = outcome, remote.id.kind == .integer {
            try idKinds.adoptIntegerIDs(&table)
        }
        return state
    }

    private func apply(
        _ outcome: PushOutcome, _ operation: inout TableOperation, _ row: inout ItemRow,
        _ table: TableRecord, after refusal: String?
    ) throws -> OperationState {
        switch outcome {
        case .applied(let remote, let origin):
            try applied(&operation, &row, remote, origin, table)
        case .sendAgain(let reason):
            try wait(&operation, .waiting, reason, transaction.now, maybeApplied: false)
            try folding.fold(&operation, &row)
        case .postponed(let later):
            try wait(
                &operation, later.maybeApplied ? .unknown : .waiting, later.reason, later.until,
                maybeApplied: later.maybeApplied)
            if later.isRetryAfter { try forbidEarlierAttempt(operation) }
            if !later.maybeApplied { try folding.fold(&operation, &row) }
        case .rebased(let remote, let reason, let overwrites):
            try rebased(&operation, &row, remote, reason, overwrites: overwrites, table)
        case .conflict(let remote, let reason):
            try conflict(&operation, &row, remote, reason, table)
        case .quarantined(let reason, let maybeApplied):
            try wait(&operation, .quarantined, reason, nil, maybeApplied: maybeApplied)
            if reason == refusal {
                try transaction.ledger.uncountRefusal()
            } else {
                try history.record(.quarantined, actor: .engine, operation, summary: reason)
                transaction.effects.decisionsNeeded.append(DecisionNeeded(operation))
            }
            // An operation that may have taken effect is sent again only if the item is changed or a person retries it.
            if !maybeApplied { try folding.fold(&operation, &row) }
        case .discarded(let remote, let reason):
            try discarding.giveUp(
                &operation, &row, for: try tables.side(remote, in: table), by: .engine,
                reason: reason, isAnswered: true)
        }
        return operation.state
    }

    private func applied(
        _ operation: inout TableOperation, _ row: inout ItemRow, _ remote: RemoteRow?,
        _ origin: RowOrigin, _ table: TableRecord
    ) throws {
        let expected =
            operation.kind == .delete
            ? nil : Rebase.desiredColumns(operation, over: ServerSide(columns: operation.baseRow))
        try tables.learn(hidden: origin.unread, of: table)
        let server = try serverSide(
            after: operation, row, remote, isWhole: origin.isWhole, table)
        let before = row.visible
        let successors = try queue.successors(of: operation.seq)
        try queue.close(&operation, .done)
        row.settledAt = try counters.nextChange()
        row.noteReplaced(by: operation, with: server, at: transaction.now)
        // A backend that deletes hard has lost the row. Undoing the delete inserts the backend's columns
        // again.
        if operation.kind == .delete, successors.isEmpty {
            row.columns = row.shadow ?? row.columns
            row.unsent = UnsentChange(mergedInto: operation)
        }
        if origin.isReadAsGone { try tables.learn(.hard, of: table) }
        if operation.kind == .delete {
            // Without a version the backend may have removed a newer row than the one that is known here.
            let known = origin.isOwnAnswer ? row.serverUpdatedAt : nil
            row.deletedAfter = remote?.updatedAt ?? known ?? ""
        }
        try rebase.move(
            &row, successors, onto: server,
            after: ChainJudge.Predecessor(
                kind: operation.kind, expected: expected, isOwnAnswer: origin.isOwnAnswer))
        try history.record(
            .sent, actor: .engine, operation, before: before,
            after: server.isLive ? server.columns : nil, summary: "The backend has it.")
    }

    /// The backend's row after it applied the operation. An answer that may be a part of the row is laid over the row
    /// as it was, with the values that were sent and that reads give.
    private func serverSide(
        after operation: TableOperation, _ row: ItemRow, _ remote: RemoteRow?, isWhole: Bool,
        _ table: TableRecord
    ) throws -> ServerSide {
        if operation.kind == .delete {
            // A server that deletes hard may answer with the row as it was.
            guard let remote, remote.isDeleted else { return .none }
            var server = try tables.side(remote, in: table)
            if server.columns?.isEmpty ?? true { server.columns = operation.baseRow }
            return server
        }
        var sent = Rebase.desiredColumns(operation, over: ServerSide(shadowOf: row))
        guard let remote else { return ServerSide(columns: sent) }
        var server = try tables.side(remote, in: table)
        if !isWhole, let answer = server.columns {
            let changed = Set(operation.changes.names)
            let values = table.spellings.withoutHidden(operation.changes).all.filter {
                !$0.value.isNull
            }
            sent = Columns(sent.all.filter { !changed.contains($0.name) })
            sent.merge(Columns(values))
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
        try queue.save(&operation)
    }

    /// Stores the time that the backend named. No sync or push tries the operation before it, unless a person
    /// retries this operation or the wall clock was set back.
    private func forbidEarlierAttempt(_ operation: TableOperation) throws {
        try transaction.run(
            "UPDATE operations SET not_before = next_attempt_at WHERE seq = ?", [operation.seq])
    }

    private func rebased(
        _ operation: inout TableOperation, _ row: inout ItemRow, _ remote: RemoteRow?,
        _ reason: String, overwrites: Bool, _ table: TableRecord
    ) throws {
        let server = try tables.side(remote, in: table)
        // My values win, so `before` in history is the backend's row that is replaced.
        let before = overwrites ? (server.isLive ? server.columns : nil) : row.visible
        let successors = try queue.successors(of: operation.seq)
        try queue.requeue(&operation, reason)
        row.settledAt = try counters.nextChange()
        try rebase.move(&row, [operation] + successors, onto: server, isDecided: true)
        operation = try queue.operation(seq: operation.seq) ?? operation
        try history.record(
            .merged, actor: .engine, operation, before: before, after: row.visible,
            summary: reason)
    }

    private func conflict(
        _ operation: inout TableOperation, _ row: inout ItemRow, _ remote: RemoteRow?,
        _ reason: String, _ table: TableRecord
    ) throws {
        let server = try tables.side(remote, in: table)
        try wait(&operation, .conflict, reason, nil, maybeApplied: false)
        if operation.kind != .insert {
            row.noteReplaced(by: operation, with: server, at: transaction.now)
        }
        row.shadow = server.columns
        row.takeServerProperties(server)
        row.settledAt = try counters.nextChange()
        try items.save(&row)
        try history.record(
            .conflict, actor: .engine, operation, before: row.visible,
            after: server.isLive ? server.columns : nil, summary: reason)
        transaction.effects.decisionsNeeded.append(DecisionNeeded(operation))
        try folding.fold(&operation, &row)
    }
}
