import HTTPMessage
import HTTPTypes
import TablesProtocol

extension PushPass {
    /// One operation's turn.
    ///
    /// 1. What may have been applied is read back first; if it never arrived it is sent.
    /// 2. Otherwise transaction{sending, attempts + 1}, request, verdict, transaction{outcome}.
    /// 3. A merge of disjoint changes sends what is left once more.
    func turn(_ operation: TableOperation) async -> PushTurn {
        var turn = PushTurn(id: operation.id)
        var operation = operation
        var hasMerged = false
        do throws(StoreError) {
            for _ in 0..<SyncLimits.requestsPerTurn {
                guard let step = try await step(operation, hasMerged: hasMerged) else { break }
                turn.requests += 1
                turn.state = step.state
                turn.linkFailure = step.linkFailure
                turn.stop = step.stop
                guard step.goesOn, !cancel.isSet else { break }
                hasMerged = hasMerged || step.isMerge
                let seq = operation.seq
                guard let again = try await store.read({ try $0.operation(seq: seq) }) else {
                    break
                }
                operation = again
            }
        } catch {
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
    }

    private func step(
        _ operation: TableOperation, hasMerged: Bool
    ) async throws(StoreError) -> Step? {
        let table = operation.table
        guard let record = try await record(of: table) else { return nil }
        var subject = PushSubject(operation, record)
        subject.hasMerged = hasMerged
        let isAssigned = operation.kind == .insert && operation.itemID.kind == .integer
        if isAssigned, operation.highestID == nil {
            if let step = try await noteHighest(operation, subject) { return step }
        }
        let request = try request(operation, subject, record)
        let start = remote.attempt(request)
        let marked = try await store.book { try $0.markSending(operation, start) }
        guard let marked else { return nil }

        let exchange = await send(request, of: operation)
        var decision: PushDecision
        if isAssigned, operation.maybeApplied {
            let claimed = try await store.read { try $0.claimedIDs(of: record) }
            decision = IntegerInsert.judge(subject, exchange.answer, claimed: claimed)
        } else if operation.maybeApplied {
            decision = Verdict.judge(subject, readBack: exchange.answer, after: .unknown)
        } else {
            decision = Verdict.judge(subject, exchange.answer)
        }
        if decision == .readBack {
            let row = await remote.list(table, .row(operation.itemID))
            let cause: Verdict.ReadBackCause = exchange.answer.isMissing ? .missing : .conflict
            decision = Verdict.judge(subject, readBack: row, after: cause)
            // The id is taken, perhaps by this very insert when the network sent it twice: as long
            // as nobody has seen the row, the insert may have been applied.
            if operation.kind == .insert, cause == .conflict, !row.isList {
                subject.maybeApplied = true
            }
        }
        let failure = await blame(&decision, table)
        var end = AttemptEnd(exchange)
        end.error = end.error ?? failure?.reason
        return try await settle(
            marked, subject, decision, end, failure: failure,
            isWhole: isWhole(operation, exchange.answer))
    }

    /// Sends an operation's request; an undeletion that is refused in one form of the third
    /// generation also in the other. 410 is a verdict: nothing happened, so this is one attempt.
    private func send(_ request: RemoteRequest, of operation: TableOperation) async -> Exchange {
        let exchange = await remote.send(request, asList: operation.maybeApplied)
        guard operation.kind == .undelete, request.method == .put, exchange.status == 410 else {
            return exchange
        }
        return await remote.send(.patchedUndelete(request), asList: false)
    }

    /// Notes the backend's highest integer id before an insert is first sent. Nil when that went
    /// well, else what it means for the operation, which was not sent.
    private func noteHighest(
        _ operation: TableOperation, _ subject: PushSubject
    ) async throws(StoreError) -> Step? {
        let answer = await remote.list(operation.table, IntegerInsert.highest)
        guard case .rows(let page) = answer else {
            var decision = Verdict.noVerdict(answer)
            if case .later(var later) = decision {
                later.maybeApplied = false
                decision = .later(later)
            }
            let failure = await blame(&decision, operation.table)
            return try await settle(
                operation, subject, decision, nil, failure: failure, isWhole: true)
        }
        let highest = page.rows.first?.id.number ?? 0
        try await store.book { try $0.setHighestID(highest, of: operation.seq) }
        return nil
    }

    /// The operation's table with its policies, mostly from memory.
    private func record(of table: TableName) async throws(StoreError) -> TableRecord? {
        if let known = store.catalog.remembered(table) { return known }
        let store = store
        return try await store.read { transaction in
            try store.catalog.table(table) { try transaction.table(table) }
        }
    }

    private func request(
        _ operation: TableOperation, _ subject: PushSubject, _ record: TableRecord
    ) throws(StoreError) -> RemoteRequest {
        if operation.maybeApplied {
            let isAssigned = operation.kind == .insert && operation.itemID.kind == .integer
            let query =
                isAssigned
                ? IntegerInsert.since(operation.highestID ?? 0) : PageQuery.row(operation.itemID)
            do throws(ODataError) {
                return try .list(operation.table, query, generation: remote.generation)
            } catch {
                throw .failed(error.description)
            }
        }
        let isUnconditional = !operation.conditional && record.unconditionalPolicy == .client
        return .operation(
            operation, isUnconditional: isUnconditional, generation: remote.generation)
    }

    /// Whether an answer's row has every column: what is absent from others is unchanged.
    private func isWhole(_ operation: TableOperation, _ answer: RemoteAnswer) -> Bool {
        guard case .row = answer else { return true }
        guard remote.generation != .mobileServices else { return false }
        return operation.kind == .insert || operation.kind == .replace
    }

    /// A failure that may be the operation's own is followed by a proof: if that fails too, it is
    /// the backend's. Returns the failure of the link, if it is one.
    private func blame(
        _ decision: inout PushDecision, _ table: TableName
    ) async -> Prover.Failure? {
        guard case .later(var later) = decision else { return nil }
        switch later.cause {
        case .cancelled: return nil
        case .link: return Prover.Failure(state: .offline, reason: later.reason)
        case .busy(let wait):
            return Prover.Failure(state: .degraded, reason: later.reason, retryAfter: wait)
        case .own:
            guard case .failed(let failure) = await prover.prove(await tables(with: table)) else {
                return nil
            }
            later.cause = .busy(retryAfter: failure.retryAfter)
            decision = .later(later)
            return failure
        }
    }

    private func settle(
        _ operation: TableOperation, _ subject: PushSubject, _ decision: PushDecision,
        _ end: AttemptEnd?, failure: Prover.Failure?, isWhole: Bool
    ) async throws(StoreError) -> Step {
        let random = random
        let maxAttempts = settings.maxAttempts
        let isOwnFailure = decision.isOwnFailure
        let state = try await store.book { transaction in
            let settlement = Settlement(
                subject: subject,
                failures: isOwnFailure ? try transaction.ownFailures(of: operation) : 0,
                attempts: operation.attempts, maxAttempts: maxAttempts, now: transaction.now,
                isWhole: isWhole, random: random)
            var outcome = settlement.outcome(decision)
            if case .applied(let row?) = decision, operation.itemID.kind == .integer,
                operation.kind == .insert, try transaction.isClaimed(row.id, operation)
            {
                // Another operation took this row at the same moment: look again.
                outcome = .unknown(reason: "The row is another change's.", until: transaction.now)
            }
            return try transaction.settle(operation.seq, outcome, attempt: end)
        }
        var step = Step(state: state, linkFailure: failure)
        switch decision {
        case .sendAgain: step.goesOn = true
        case .merge: (step.goesOn, step.isMerge) = (true, true)
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

extension PushSubject {
    /// What the verdict needs of an operation and its table's policies.
    init(_ operation: TableOperation, _ table: TableRecord) {
        self.init(
            kind: operation.kind, itemID: operation.itemID, sent: operation.payload ?? Columns(),
            base: operation.baseRow, baseVersion: operation.baseVersion,
            maybeApplied: operation.maybeApplied, mayArriveLate: operation.mayArriveLate,
            madeID: operation.madeID,
            conditional: operation.conditional, conflictPolicy: table.conflictPolicy,
            unconditionalPolicy: table.unconditionalPolicy)
    }
}

extension AttemptEnd {
    /// How a request ended.
    init(_ exchange: Exchange) {
        self.init(
            status: exchange.status, response: exchange.excerpt, error: nil, reach: nil,
            fields: exchange.fields)
        if case .unreachable(let failure) = exchange.answer {
            error = failure.message
            reach = failure.reach.rawValue
        }
    }
}

extension RemoteAnswer {
    /// 404 or 410.
    var isMissing: Bool { if case .missing = self { true } else { false } }

    /// A list, as a row is read back.
    var isList: Bool { if case .rows = self { true } else { false } }
}
