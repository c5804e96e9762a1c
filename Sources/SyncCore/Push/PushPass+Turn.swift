import HTTPMessage
import HTTPTypes
import TablesProtocol

extension PushPass {
    /// One operation's turn.
    ///
    /// 1. What may have been applied is read back first; if it never arrived it is sent.
    /// 2. Otherwise transaction{sending, attempts + 1}, a slot on the wire, request, verdict,
    ///    transaction{outcome}.
    /// 3. A merge of disjoint changes sends what is left once more.
    /// 4. A turn whose answer says that the next would fare no better closes the slots: what waits for
    ///    one has sent nothing, and gets another turn when the backend is proven again.
    func turn(_ operation: TableOperation) async -> PushTurn {
        var turn = PushTurn(id: operation.id, seq: operation.seq)
        var operation = operation
        var hasMerged = false
        do throws(StoreError) {
            for _ in 0..<SyncLimits.requestsPerTurn {
                guard let step = try await step(operation, hasMerged: hasMerged) else { break }
                guard !step.isHeld else {
                    turn.isHeld = true
                    break
                }
                turn.requests += 1
                turn.state = step.state
                turn.linkFailure = step.linkFailure
                turn.refusedDialect = step.refusedDialect
                turn.stop = step.stop
                guard step.goesOn, !cancel.isSet else { break }
                hasMerged = hasMerged || step.isMerge
                let seq = operation.seq
                guard let again = try await store.read({ try $0.queue.operation(seq: seq) }) else {
                    break
                }
                operation = again
            }
        } catch {
            slots.close()
            turn.stop = .store(error.description)
        }
        return turn
    }

    /// What one request of a turn came to.
    private struct Step {
        var state: OperationState
        var linkFailure: Prover.Failure?
        var stop: PushStop?
        /// The operation may be sent (again) at once.
        var goesOn = false
        var isMerge = false
        /// Nothing was sent, since the slots are closed.
        var isHeld = false
        var refusedDialect = false
    }

    private func step(
        _ operation: TableOperation, hasMerged: Bool
    ) async throws(StoreError) -> Step? {
        let table = operation.table
        guard let record = try await record(of: table) else { return nil }
        var subject = PushSubject(operation, record)
        subject.hasMerged = hasMerged
        subject.isReadFirst =
            operation.maybeApplied
            || !hasMerged && operation.lacksVersion && remote.generation == .datasync
        subject.mergesTwice = store.has(.mergeSendsTwice)
        if operation.isAssigned, operation.highestID == nil {
            if let step = try await noteHighest(operation, subject) { return step }
        }
        let request = try request(operation, subject, record)
        let start = remote(for: operation).attempt(request)
        let marked = try await store.commitInGroup { try $0.attempts.markSending(operation, start) }
        guard let marked else { return nil }

        guard await enter() else { return try await hold(marked, subject) }
        let ruling = try await ask(request, of: operation, subject, record)
        var step = try await settle(
            marked, ruling.subject, ruling.decision, ruling.end, failure: ruling.failure,
            origin: ruling.origin)
        step.refusedDialect = ruling.refusedDialect
        return step
    }

    /// A slot on the wire; false when the push ends or has to prove the backend first.
    private func enter() async -> Bool {
        guard await slots.enter() else { return false }
        guard cancel.isSet else { return true }
        slots.leave()
        return false
    }

    /// Notes that an operation was marked in flight and not sent.
    private func hold(
        _ marked: TableOperation, _ subject: PushSubject
    ) async throws(StoreError) -> Step {
        let reason =
            cancel.isSet
            ? "It was not sent: the push was stopped first."
            : "It was not sent: the backend failed for another change first."
        var end = AttemptEnd(error: reason)
        end.reach = TransportError.Reach.notSent.rawValue
        let held = PushDecision.later(Later(cause: .held, maybeApplied: false, reason: reason))
        var step = try await settle(marked, subject, held, end, failure: nil)
        step.isHeld = true
        return step
    }

    /// Notes the backend's highest integer id before an insert is first sent. Nil when that went
    /// well, else what it means for the operation, which was not sent.
    private func noteHighest(
        _ operation: TableOperation, _ subject: PushSubject
    ) async throws(StoreError) -> Step? {
        guard await enter() else { return Step(state: operation.state, isHeld: true) }
        let answer = await remote(for: operation).list(
            operation.table, IntegerInsert.highest)
        guard case .rows(let page) = answer else {
            var decision = Verdict.noVerdict(answer)
            if case .later(var later) = decision {
                later.maybeApplied = false
                decision = .later(later)
            }
            let failure = await attributeFailure(&decision, operation.table)
            if failure != nil || decision.endsPush { slots.close() }
            slots.leave()
            return try await settle(
                operation, subject, decision, nil, failure: failure)
        }
        slots.leave()
        // A backend that gives more than the one row which was asked for may give them in any order.
        let highest = page.elements.compactMap { $0.itemID?.number }.max() ?? 0
        try await store.commitInGroup { try $0.attempts.setHighestID(highest, of: operation.seq) }
        return nil
    }

    private func settle(
        _ operation: TableOperation, _ subject: PushSubject, _ decision: PushDecision,
        _ end: AttemptEnd?, failure: Prover.Failure?,
        origin: RowOrigin = RowOrigin()
    ) async throws(StoreError) -> Step {
        let random = random
        let maxAttempts = settings.maxAttempts
        let isOwnFailure = decision.isOwnFailure
        let state = try await store.commitInGroup { transaction in
            let settlement = Settlement(
                subject: subject,
                failures: isOwnFailure ? try transaction.attempts.ownFailures(of: operation) : 0,
                attempts: operation.attempts, maxAttempts: maxAttempts, now: transaction.now,
                origin: origin, random: random)
            var outcome = settlement.outcome(decision)
            if case .applied(let row?) = decision, operation.itemID.kind == .integer,
                operation.kind == .insert, try transaction.items.isClaimed(row.id, operation)
            {
                // Another operation took this row at the same moment: look again.
                outcome = .unknown(reason: "The row is another change's.", until: transaction.now)
            }
            return try Settling(transaction: transaction).settle(
                operation.seq, outcome, attempt: end)
        }
        var step = Step(state: state, linkFailure: failure)
        switch decision {
        case .sendAgain: step.goesOn = true
        case .merge, .insertAgain: (step.goesOn, step.isMerge) = (true, true)
        case .conflict(_, _, let policy):
            step.goesOn = state == .queued && policy != .ask
            step.isMerge = step.goesOn
        case .signIn: step.stop = .signIn
        case .later(let later):
            if later.cause == .cancelled { step.stop = .cancelled }
        case .applied, .readBack, .quarantine: break
        }
        return step
    }
}
