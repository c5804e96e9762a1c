import HTTPMessage
import HTTPTypes
import TablesProtocol

extension PushPass {
    /// Pushes one operation: at most ``SyncLimits/requestsPerOperation`` attempts. An attempt may need more
    /// requests, which read a row back or prove the backend.
    ///
    /// 1. An operation that may have been applied is read back first. If it never arrived, it is sent.
    /// 2. Otherwise: commit {sending, attempts + 1}, wait for a slot, send, judge, commit {outcome}. After a read
    ///    the slot is kept: what another writer changes between the read and the write may be overwritten.
    /// 3. An operation that was rewritten for the backend's row (a merge, an undelete that becomes an insert,
    ///    or a policy that lets the local change win) is sent once more.
    /// 4. If the answer says that the next operation would fail too, the slots are closed. Operations that
    ///    wait for a slot have sent nothing, and are pushed when the backend is proven again.
    /// - Parameter onlyReads: whether to end once the row has been read back, without sending anything.
    func push(
        _ operation: TableOperation, _ gates: TableGates, onlyReads: Bool = false
    ) async -> PushedOperation {
        var result = PushedOperation(id: operation.id, seq: operation.seq)
        let refusal = operation.state == .quarantined ? operation.reason ?? "" : nil
        result.isSecondTry = refusal != nil
        result.mayHavePassedOver = gates.hasFailed(operation.tableID)
        defer { gates.end(operation.tableID) }
        var operation = operation
        var (hasRead, hasMerged, holdsSlot) = (false, false, false)
        defer { if holdsSlot { slots.release() } }
        do throws(StoreError) {
            for _ in 0..<SyncLimits.requestsPerOperation {
                guard
                    let step = try await step(
                        operation, gates, hasRead: hasRead, hasMerged: hasMerged,
                        holdsSlot: &holdsSlot, after: refusal)
                else { break }
                guard !step.isHeld else {
                    result.isHeld = true
                    break
                }
                result.requests += 1
                result.state = step.state
                result.isRefusal = step.isRefusal
                result.follower = step.follower
                result.linkFailure = step.linkFailure
                result.refusedProtocolVersion = step.refusedProtocolVersion
                result.stop = step.stop
                result.answer = step.answer ?? result.answer
                guard step.goesOn, !onlyReads, !cancel.isSet else { break }
                hasRead = hasRead || step.isRead
                hasMerged = hasMerged || step.isMerge
                let seq = operation.seq
                guard let again = try await store.read({ try $0.queue.operation(seq: seq) }) else {
                    break
                }
                operation = again
            }
        } catch {
            slots.close()
            result.stop = .store(error.description)
        }
        return result
    }

    private struct Step {
        var state: OperationState
        var linkFailure: Prover.Failure?
        var stop: PushStop?
        /// The operation may be sent (again) at once.
        var goesOn = false
        /// The row was read, and nothing was sent yet.
        var isRead = false
        var isMerge = false
        /// Nothing was sent, because the slots are closed or the table is paused.
        var isHeld = false
        /// See ``PushedOperation/follower``.
        var follower: Int64?
        /// See ``PushedOperation/isRefusal``.
        var isRefusal = false
        var refusedProtocolVersion = false
        /// See ``PushedOperation/answer``.
        var answer: RemoteExchange?
    }

    private func step(
        _ operation: TableOperation, _ gates: TableGates, hasRead: Bool, hasMerged: Bool,
        holdsSlot: inout Bool, after refusal: String?
    ) async throws(StoreError) -> Step? {
        let table = operation.table
        if gates.isClosed(operation.tableID) { return Step(state: operation.state, isHeld: true) }
        guard let record = try await record(of: table) else { return nil }
        if record.pause.stopsPushes { return Step(state: operation.state, isHeld: true) }
        var subject = PushSubject(operation, record)
        subject.hasMerged = hasMerged
        subject.owner = owner
        subject.isReadFirst =
            operation.maybeApplied || !hasRead && mustBeReadFirst(operation, record)
        if operation.itemID.kind == .integer, operation.kind != .insert {
            let id = operation.itemID
            subject.createdAt = try await store.read {
                try $0.items.row(record, exactly: id)?.serverCreatedAt
            }
        }
        if operation.needsHighestID {
            if let step = try await recordHighestID(operation, subject, gates, after: refusal) {
                return step
            }
        }
        if operation.isAssigned, operation.maybeApplied {
            subject.highestID = try await store.read { try $0.claims.highestID(of: operation) }
        }
        let request = try request(operation, subject, record)
        let start = remote(for: operation).attempt(request)
        let marked = try await store.commitInGroup { try $0.attempts.markSending(operation, start) }
        guard let marked else { return nil }

        let maySend =
            await holdsSlot
            ? slots.isOpen && !cancel.isSet && !gates.isClosed(operation.tableID)
            : acquireSlot(gates, for: operation)
        guard maySend else {
            return try await settleUnsent(marked, subject, gates, after: refusal)
        }
        holdsSlot = true
        let ruling = try await sendAndJudge(request, of: operation, subject, record, gates)
        // An insert with an assigned id asks for the highest id in a slot of its own.
        holdsSlot = subject.isReadFirst && ruling.decision.isSentNext && !operation.isAssigned
        if !holdsSlot { slots.release() }
        var step = try await settle(
            marked, ruling.subject, ruling.decision, ruling.end, gates, failure: ruling.failure,
            origin: ruling.origin, hasVersion: ruling.hasVersion, answersWrite: ruling.answersWrite,
            after: refusal)
        step.isRead = subject.isReadFirst
        step.refusedProtocolVersion = ruling.refusedProtocolVersion
        step.answer = ruling.answer
        return step
    }

    /// Whether the row is read before an operation is sent whose row has no known version. The request would
    /// have no condition, and would overwrite what another writer changed meanwhile.
    ///
    /// 1. An undelete is read in any case: one that arrives late would bring back what was deleted again.
    /// 2. In the third generation an update replaces the whole row, whatever the policy.
    /// 3. Any other is not read if the table's policy lets writes without a condition win.
    private func mustBeReadFirst(_ operation: TableOperation, _ record: TableRecord) -> Bool {
        guard operation.baseVersion == nil else { return false }
        let replaces = remote.generation == .datasync
        switch operation.kind {
        case .insert: return false
        case .undelete: return true
        case .update, .replace: return replaces || !operation.isUnconditional(in: record)
        case .delete: return !operation.isUnconditional(in: record)
        }
    }

    /// Waits for a slot; false if the push ends, must prove the backend first, or has put off the table.
    private func acquireSlot(
        _ gates: TableGates, for operation: TableOperation
    ) async -> Bool {
        guard await slots.take() else { return false }
        guard cancel.isSet || gates.isClosed(operation.tableID) else { return true }
        slots.release()
        return false
    }

    /// Commits that an operation was marked in flight but not sent.
    private func settleUnsent(
        _ marked: TableOperation, _ subject: PushSubject, _ gates: TableGates,
        after refusal: String?
    ) async throws(StoreError) -> Step {
        let reason =
            cancel.isSet
            ? "It was not sent: the push was stopped first."
            : "It was not sent: the backend failed for another change first."
        var end = AttemptEnd(error: reason)
        end.reach = AttemptEnd.neverBegun
        let held = PushDecision.postponed(
            Postponement(cause: .held, maybeApplied: false, reason: reason))
        var step = try await settle(
            marked, subject, held, end, gates, failure: nil, after: refusal)
        step.isHeld = true
        return step
    }

    /// Stores the backend's highest integer id before an insert is first sent.
    /// - Returns: nil after a success; otherwise the outcome of the operation, which was not sent.
    private func recordHighestID(
        _ operation: TableOperation, _ subject: PushSubject, _ gates: TableGates,
        after refusal: String?
    ) async throws(StoreError) -> Step? {
        guard await acquireSlot(gates, for: operation) else {
            return Step(state: operation.state, isHeld: true)
        }
        let answer = await remote(for: operation).list(
            operation.table, IntegerInsert.highest)
        guard case .rows(let page) = answer else {
            var (subject, decision) = (subject, Verdict.noVerdict(answer))
            if case .missing(let status, _) = answer,
                let record = try await record(of: operation.table)
            {
                subject.tableExistedBefore = try await existedBefore(record)
                decision = Verdict.noTable(subject, status)
            }
            if case .postponed(var later) = decision {
                later.maybeApplied = false
                decision = .postponed(later)
            }
            let failure = await attributeFailure(&decision, operation, gates)
            if failure != nil || decision.endsPush { slots.close() }
            slots.release()
            return try await settle(
                operation, subject, decision, nil, gates, failure: failure, after: refusal)
        }
        slots.release()
        // A backend that ignores `$top` may give several rows, in any order.
        let highest = page.elements.compactMap { $0.itemID?.number }.max() ?? 0
        try await store.commitInGroup { try $0.attempts.setHighestID(highest, of: operation.seq) }
        return nil
    }

    /// The failure that puts an operation's table off; nil if it is another one, or there is none.
    private func tableFailure(
        _ decision: PushDecision, _ operation: TableOperation
    ) -> Prover.Failure? {
        guard case .postponed(let later) = decision, case .table(let named) = later.cause else {
            return nil
        }
        return Prover.Failure(
            state: .online, reason: later.reason,
            retryAfter: named,
            request: remote.failures.last(of: operation.table))
    }

    /// Commits a decision.
    /// - Parameter refusal: why the backend refused the operation earlier in this pass. It stays refused if the
    ///   second try had no verdict and no effect.
    private func settle(
        _ operation: TableOperation, _ subject: PushSubject, _ decision: PushDecision,
        _ end: AttemptEnd?, _ gates: TableGates, failure: Prover.Failure?,
        origin: RowOrigin = RowOrigin(), hasVersion: Bool? = nil, answersWrite: Bool = false,
        after refusal: String? = nil
    ) async throws(StoreError) -> Step {
        let random = random
        let tableFailure = tableFailure(decision, operation)
        let endsWait = answersWrite && tableFailure == nil && gates.hasFailed(operation.tableID)
        let maxAttempts = settings.maxAttempts
        let isOwnFailure = decision.isOwnFailure
        let (state, follower, wait) = try await store.commitInGroup { transaction in
            if endsWait { try transaction.tableWaits.clear(.push, of: operation.table) }
            let wait = try tableFailure.map {
                try transaction.tableWaits.note(.push, of: operation.table, $0, random: random)
            }
            let settlement = Settlement(
                subject: subject,
                failures: isOwnFailure ? try transaction.attempts.ownFailures(of: operation) : 0,
                written: isOwnFailure && subject.isReadFirst
                    ? try transaction.attempts.lastWrite(of: operation) : end,
                attempts: operation.attempts, maxAttempts: maxAttempts, now: transaction.now,
                origin: origin, tableWait: wait, random: random)
            var outcome = settlement.outcome(decision)
            if let refusal, decision != .sendAgain,
                case .waiting(_, _, let maybeApplied, _) = outcome, !maybeApplied
            {
                outcome = .quarantined(reason: refusal, maybeApplied: false)
            }
            if case .applied(let row?) = decision, operation.isAssigned,
                subject.isReadFirst,
                try transaction.claims.mayBeAnothers(row, than: operation)
            {
                // Another insert took this row at the same moment, or may be answered with it: read back again.
                outcome = .unknown(reason: "The row is another change's.", until: transaction.now)
            }
            if let hasVersion {
                try transaction.tables.learn(lacksVersions: !hasVersion, of: operation.tableID)
            }
            let state = try Settling(transaction: transaction).settle(
                operation.seq, outcome, attempt: end, after: refusal)
            let follower = state.isOpen ? nil : try transaction.items.pending(of: operation)
            return (state, follower, wait)
        }
        if endsWait { gates.open(operation.tableID) }
        if let wait { gates.close(operation.tableID, until: wait.until) }
        var step = Step(state: state, linkFailure: failure)
        step.follower = follower
        switch decision {
        case .sendAgain: step.goesOn = true
        // Taking the version of a row that was read first does not count as a merge.
        case .merge: (step.goesOn, step.isMerge) = (true, !subject.isReadFirst)
        case .insertAgain: (step.goesOn, step.isMerge) = (true, true)
        case .conflict(_, _, let policy):
            step.goesOn = state == .queued && policy != .ask
            step.isMerge = step.goesOn
        case .signIn: step.stop = .signIn
        case .postponed(let later):
            if later.cause == .cancelled { step.stop = .cancelled }
        case .quarantine:
            step.isRefusal =
                !subject.maybeApplied && !operation.mayArriveLate
                && (400..<500).contains(end?.status ?? 0)
        case .applied, .readBack: break
        }
        return step
    }
}
