import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The push of one operation: at most ``SyncLimits/requestsPerOperation`` attempts. An attempt may need more
/// requests, which read a row back or prove the backend.
///
/// 1. An operation that may have been applied is read back first. If it never arrived, it is sent.
/// 2. Otherwise: commit {sending, attempts + 1}, wait for a slot, send, judge, commit {outcome}. After a read
///    the slot is kept: what another writer changes between the read and the write may be overwritten.
/// 3. An operation that was rewritten for the backend's row (a merge, an undelete that becomes an insert,
///    or a policy that lets the local change win) is sent once more.
/// 4. If the answer says that the next operation would fail too, the slots are closed. Operations that
///    wait for a slot have sent nothing, and are pushed when the backend is proven again.
struct OperationPush {
    let pass: PushPass
    let gates: TableGates
    /// The backend, with the header fields that the operation's client sent.
    let remote: Remote
    private var operation: TableOperation
    private(set) var pushed: PushedOperation
    /// Why the backend refused it earlier in this pass. It stays refused if the second try had no verdict and no
    /// effect.
    private let refusal: String?
    private var hasRead = false
    private var hasMerged = false
    private var holdsSlot = false
    private var store: Store { pass.store }

    init(_ operation: TableOperation, _ pass: PushPass, _ gates: TableGates) {
        (self.pass, self.gates, self.operation) = (pass, gates, operation)
        var remote = pass.remote
        remote.clientFields.override(with: operation.headers)
        self.remote = remote
        pushed = PushedOperation(id: operation.id, seq: operation.seq)
        refusal = operation.state == .quarantined ? operation.reason ?? "" : nil
        pushed.isSecondTry = refusal != nil
        pushed.mayHavePassedOver = gates.hasFailed(operation.tableID)
    }

    mutating func run(onlyReads: Bool) async {
        do throws(StoreError) {
            for _ in 0..<SyncLimits.requestsPerOperation {
                guard try await attempt(), !onlyReads, !pass.cancel.isSet else { break }
                let seq = operation.seq
                guard let again = try await store.read({ try $0.queue.operation(seq: seq) }) else {
                    break
                }
                operation = again
            }
        } catch {
            pass.slots.close()
            pushed.stop = .store(error.description)
        }
        if holdsSlot { pass.slots.release() }
        gates.end(operation.tableID)
    }

    /// Marks the operation in flight, sends a request, judges the answer, and commits the outcome.
    /// - Returns: whether the operation may be sent (again) at once.
    private mutating func attempt() async throws(StoreError) -> Bool {
        guard !gates.isClosed(operation.tableID) else { return hold() }
        guard let table = try await table() else { return false }
        guard !table.pause.stopsPushes else { return hold() }
        var subject = PushSubject(operation, table)
        (subject.hasMerged, subject.owner) = (hasMerged, pass.owner)
        subject.isReadFirst = operation.maybeApplied || !hasRead && mustBeReadFirst(subject)
        if operation.itemID.kind == .integer, operation.kind != .insert {
            let id = operation.itemID
            subject.createdAt = try await store.read {
                try $0.items.row(table, exactly: id)?.serverCreatedAt
            }
        }
        if operation.needsHighestID {
            guard try await recordHighestID(subject, table) else { return false }
        }
        if operation.isAssigned, operation.maybeApplied {
            let operation = operation
            subject.highestID = try await store.read { try $0.claims.highestID(of: operation) }
        }
        let request = try request(subject)
        let (sent, start) = (operation, remote.attempt(request))
        let marked = try await store.commitInGroup { try $0.attempts.markSending(sent, start) }
        guard let marked else { return false }
        let maySend = holdsSlot ? pass.slots.isOpen && mayGoOn : await acquireSlot()
        guard maySend else {
            try await settleUnsent(marked, subject)
            return hold()
        }
        holdsSlot = true
        let sending = OperationRequest(
            request: request, operation: operation, table: table, remote: remote, store: store)
        let exchange = await sending.send()
        var outcome = try await sending.judge(exchange, &subject)
        let failure = await attributeFailure(
            &outcome, isInText: exchange.response?.isRefusalInText == true)
        if failure != nil || outcome.cause?.endsPush == true { pass.slots.close() }
        // An insert with an assigned id asks for the highest id in a slot of its own.
        holdsSlot = subject.isReadFirst && outcome.isSentNext && !operation.isAssigned
        if !holdsSlot { pass.slots.release() }
        var end = AttemptEnd(exchange)
        end.error = end.error ?? failure?.reason
        let goesOn = try await settle(
            marked, subject, outcome, end, failure,
            answersWrite: !subject.isReadFirst && !exchange.answer.isFailure)
        pushed.refusedProtocolVersion = exchange.answer.isOtherVersion
        if !subject.isReadFirst, exchange.response != nil { pushed.answer = exchange }
        hasRead = hasRead || subject.isReadFirst
        return goesOn
    }

    /// Ends the push without another request, because the slots are closed or the table is paused.
    private mutating func hold() -> Bool {
        pushed.isHeld = true
        return false
    }

    /// Whether the row is read before an operation is sent whose row has no known version. The request would
    /// have no condition, and would overwrite what another writer changed meanwhile.
    ///
    /// 1. An undelete is read in any case: one that arrives late would bring back what was deleted again.
    /// 2. In the third generation an update replaces the whole row, whatever the policy.
    /// 3. Any other is not read if the table's policy lets writes without a condition win.
    private func mustBeReadFirst(_ subject: PushSubject) -> Bool {
        guard operation.baseVersion == nil else { return false }
        switch operation.kind {
        case .insert: return false
        case .undelete: return true
        case .update, .replace: return remote.generation == .datasync || !subject.isUnconditional
        case .delete: return !subject.isUnconditional
        }
    }

    private var mayGoOn: Bool { !pass.cancel.isSet && !gates.isClosed(operation.tableID) }

    /// Waits for a slot; false if the push ends, must prove the backend first, or has put off the table.
    private func acquireSlot() async -> Bool {
        guard await pass.slots.take() else { return false }
        if mayGoOn { return true }
        pass.slots.release()
        return false
    }

    /// The operation's table with its policies, usually from memory.
    private func table() async throws(StoreError) -> TableRecord? {
        let (catalog, name) = (store.catalog.engine, operation.table)
        if let known = catalog.remembered(name) { return known.record }
        return try await store.read { transaction in
            try catalog.load(name) { try transaction.tables.table(name) }?.record
        }
    }

    private func request(_ subject: PushSubject) throws(StoreError) -> RemoteRequest {
        guard subject.isReadFirst else {
            return .operation(
                operation, isUnconditional: subject.isUnconditional, generation: remote.generation)
        }
        let query =
            operation.isAssigned
            ? IntegerInsert.since(subject.highestID) : PageQuery.row(operation.itemID)
        do throws(ODataError) {
            return try .list(operation.table, query, generation: remote.generation)
        } catch {
            throw .failed(error.description)
        }
    }

    /// Stores the backend's highest integer id before an insert is first sent.
    /// - Returns: false if it is not known, so that the operation is not sent.
    private mutating func recordHighestID(
        _ subject: PushSubject, _ table: TableRecord
    ) async throws(StoreError) -> Bool {
        guard await acquireSlot() else { return hold() }
        let answer = await remote.list(operation.table, IntegerInsert.highest)
        if case .rows(let page) = answer {
            pass.slots.release()
            // A backend that ignores `$top` may give several rows, in any order.
            let highest = page.elements.compactMap { $0.itemID?.number }.max() ?? 0
            let seq = operation.seq
            try await store.commitInGroup { try $0.attempts.setHighestID(highest, of: seq) }
            return true
        }
        var (subject, outcome) = (subject, Verdict.noVerdict(answer))
        if case .missing(let status, _) = answer {
            subject.tableExistedBefore = try await store.read {
                try $0.tables.existedBefore(table)
            }
            outcome = Verdict.noTable(subject, status)
        }
        if case .postponed(var later) = outcome {
            later.maybeApplied = false
            outcome = .postponed(later)
        }
        let failure = await attributeFailure(&outcome)
        if failure != nil || outcome.cause?.endsPush == true { pass.slots.close() }
        pass.slots.release()
        _ = try await settle(operation, subject, outcome, nil, failure)
        return false
    }

    /// Commits that an operation was marked in flight but not sent.
    private func settleUnsent(
        _ marked: TableOperation, _ subject: PushSubject
    ) async throws(StoreError) {
        let reason =
            pass.cancel.isSet
            ? "It was not sent: the push was stopped first."
            : "It was not sent: the backend failed for another change first."
        let end = AttemptEnd(error: reason, reach: AttemptEnd.neverBegun)
        let held = Postponement(cause: .held, reason: reason)
        _ = try await commit(marked, subject, .postponed(held), end, endsWait: false)
    }

    /// Commits an outcome and takes note of it.
    /// - Returns: whether the operation may be sent (again) at once.
    private mutating func settle(
        _ marked: TableOperation, _ subject: PushSubject, _ outcome: PushOutcome,
        _ end: AttemptEnd?, _ failure: Prover.Failure?, answersWrite: Bool = false
    ) async throws(StoreError) -> Bool {
        let (state, follower) = try await commit(
            marked, subject, outcome, end, endsWait: answersWrite)
        pushed.requests += 1
        (pushed.state, pushed.follower) = (state, follower)
        (pushed.linkFailure, pushed.stop, pushed.isRefusal) = (failure, nil, false)
        switch outcome {
        case .sendAgain: return true
        case .rebased(let row, _, let overwrites):
            guard !overwrites || state == .queued else { return false }
            // Taking the version of a row that was read first does not count as a merge.
            hasMerged = hasMerged || overwrites || row == nil || !subject.isReadFirst
            return true
        case .postponed(let later):
            if later.cause == .signIn { pushed.stop = .signIn }
            if later.cause == .cancelled { pushed.stop = .cancelled }
        case .quarantined:
            pushed.isRefusal =
                !subject.maybeApplied && !operation.mayArriveLate
                && (400..<500).contains(end?.status ?? 0)
        case .applied, .conflict, .discarded: break
        }
        return false
    }

    /// Commits an outcome in one transaction.
    /// - Parameter endsWait: whether the backend has answered a write, which ends the wait of a table that failed.
    /// - Returns: the operation's state, and the item's next operation if it may be sent now.
    private func commit(
        _ marked: TableOperation, _ subject: PushSubject, _ outcome: PushOutcome,
        _ end: AttemptEnd?, endsWait: Bool
    ) async throws(StoreError) -> (OperationState, follower: Int64?) {
        let (random, refusal, table) = (pass.random, refusal, operation.table)
        let maxAttempts = pass.settings.maxAttempts
        var tableFailure: Prover.Failure?
        if case .postponed(let later) = outcome, case .table(let named) = later.cause {
            tableFailure = Prover.Failure(
                state: .online, reason: later.reason, retryAfter: named,
                request: remote.failures.last(of: table))
        }
        let (failure, isOwn) = (tableFailure, outcome.cause == .own)
        let endsWait = endsWait && failure == nil && gates.hasFailed(marked.tableID)
        let (state, follower, wait) = try await store.commitInGroup { transaction in
            if endsWait { try transaction.tableWaits.clear(.push, of: table) }
            let wait = try failure.map {
                try transaction.tableWaits.note(.push, of: table, $0, random: random)
            }
            var outcome = RetryTimes(
                maybeApplied: subject.maybeApplied, isRead: subject.isReadFirst,
                failures: isOwn ? try transaction.attempts.ownFailures(of: marked) : 0,
                written: isOwn && subject.isReadFirst
                    ? try transaction.attempts.lastWrite(of: marked) : end,
                attempts: marked.attempts, maxAttempts: maxAttempts, now: transaction.now,
                tableWait: wait, random: random
            ).outcome(outcome)
            if let refusal, case .postponed(let later) = outcome, !later.maybeApplied {
                outcome = .quarantined(reason: refusal)
            }
            if case .applied(let row?, _) = outcome, marked.isAssigned, subject.isReadFirst,
                try transaction.claims.mayBeAnothers(row, than: marked)
            {
                // Another insert took this row at the same moment, or may be answered with it: read back again.
                outcome = .postponed(
                    Postponement(
                        cause: .own, maybeApplied: true, reason: "The row is another change's.",
                        until: transaction.now))
            }
            if let hasVersion = subject.hasVersion {
                try transaction.tables.learn(lacksVersions: !hasVersion, of: marked.tableID)
            }
            let state = try Settling(transaction: transaction).settle(
                marked.seq, outcome, attempt: end, after: refusal)
            let follower = state.isOpen ? nil : try transaction.items.pending(of: marked)
            return (state, follower, wait)
        }
        if endsWait { gates.open(marked.tableID) }
        if let wait { gates.close(marked.tableID, until: wait.until) }
        return (state, follower)
    }

    /// Checks a failure that may be the operation's own or its table's with a proof: by other tables first, if
    /// it may be the table's. If the proof fails too, the failure is the backend's.
    /// - Parameter isInText: whether a refusal may be that of a gateway which refuses all requests: it counts if
    ///   the proof succeeds after it.
    /// - Returns: the failure of the link or the backend; nil if the backend otherwise answers.
    private func attributeFailure(
        _ outcome: inout PushOutcome, isInText: Bool = false
    ) async -> Prover.Failure? {
        if isInText, case .quarantined(let reason, _) = outcome {
            let doubted = PushOutcome.postponed(maybeApplied: false, reason)
            var judged = doubted
            let failure = await attributeFailure(&judged)
            if judged != doubted { outcome = judged }
            return failure
        }
        guard case .postponed(var later) = outcome else { return nil }
        let table = operation.table
        let request = remote.failures.last(of: table)
        func busy(_ wait: Duration?) -> Prover.Failure {
            Prover.Failure(
                state: .degraded, reason: later.reason, retryAfter: wait, request: request)
        }
        switch later.cause {
        case .cancelled, .held, .signIn, .contended: return nil
        case .link:
            return Prover.Failure(state: .offline, reason: later.reason, request: request)
        case .busy(let wait): return busy(wait)
        case .table(let named):
            let tables = await pass.proofTables(table, true)
            let proof = tables.isEmpty ? .failed(busy(named)) : await pass.prover.prove(tables)
            guard case .failed(let found) = proof else {
                gates.close(operation.tableID)
                later.reason = TableWait.reason(table, status: request?.status)
                outcome = .postponed(later)
                return nil
            }
            // That another table is missing says nothing.
            var failure = found.isAboutTable ? busy(named) : found
            if failure.state == .signedOut {
                outcome = .postponed(.signIn(maybeApplied: later.maybeApplied))
                return nil
            }
            failure.retryAfter = [named, failure.retryAfter].compactMap(\.self).max()
            failure.request = request ?? failure.request
            failure.hasFailedProof = true
            later.cause = .busy(retryAfter: failure.retryAfter)
            outcome = .postponed(later)
            return failure
        case .own, .requiresSignIn:
            let tables = await pass.proofTables(table, false)
            guard case .failed(let failure) = await pass.prover.prove(tables) else { return nil }
            guard failure.state != .signedOut else {
                outcome = .postponed(.signIn(maybeApplied: later.maybeApplied))
                return nil
            }
            later.cause = .busy(retryAfter: failure.retryAfter)
            outcome = .postponed(later)
            return failure
        }
    }
}

extension AttemptEnd {
    /// Records how a request ended.
    init(_ exchange: RemoteExchange) {
        self.init(status: exchange.status)
        if let bytes = exchange.response?.bytes, !bytes.isEmpty {
            response = String(decoding: bytes.prefix(SyncLimits.excerptBytes), as: UTF8.self)
        }
        fields = RecordedFields.lines(exchange.response?.head.headerFields ?? [:])
        if case .unreachable(let failure) = exchange.answer {
            error = failure.message
            reach = failure.reach.rawValue
        }
    }
}
