import HTTPMessage
import HTTPTypes
import TablesProtocol

extension PushPass {
    /// One request, the read-back where one was needed, and the decision that follows from them.
    struct JudgedRequest {
        var subject: PushSubject
        var decision: PushDecision
        var end: AttemptEnd
        /// Why the link failed; nil if it did not.
        var failure: Prover.Failure?
        var origin: RowOrigin
        var refusedProtocolVersion: Bool
        /// Whether the row has a version; nil if it was not read.
        var hasVersion: Bool?
        /// Whether the backend has answered a write to the table, be it with a refusal.
        var answersWrite: Bool
        /// The answer to the write; nil where the request only read, or none came.
        var answer: RemoteExchange?
    }

    /// Whether a missing table was there before, so that it may come back.
    func existedBefore(_ record: TableRecord) async throws(StoreError) -> Bool {
        try await store.read { try $0.tables.existedBefore(record) }
    }

    /// Sends a request in a slot that is held, and judges the answer.
    ///
    /// 1. Send, and judge the answer.
    /// 2. If the verdict asks for it, read the row back and judge that.
    /// 3. If an answer of success leaves out what was sent or what the item's next change needs, or shows what
    ///    reads may not give, read the row (``AnsweredRow``). It becomes the server's row.
    /// 4. After a delete in a table of which it is not known yet, read whether the backend keeps the row as
    ///    deleted.
    /// 5. Find out whether a refusal in text is a gateway's, and whether a failure is the link's, or the table's.
    ///    If it is the link's, or if the next operation would get the same answer, nothing more is sent; if it is
    ///    the table's, nothing more of it.
    func sendAndJudge(
        _ request: RemoteRequest, of operation: TableOperation, _ subject: PushSubject,
        _ record: TableRecord, _ gates: TableGates
    ) async throws(StoreError) -> JudgedRequest {
        let remote = self.remote(for: operation)
        var subject = subject
        let exchange = await send(request, of: operation)
        if exchange.answer.isMissing {
            subject.tableExistedBefore = try await existedBefore(record)
        }
        let (first, hasVersion) = try await firstDecision(
            exchange.answer, of: operation, subject, record)
        var decision = first
        var origin = self.origin(operation, request, exchange.answer)
        if decision == .readBack {
            decision = try await readBack(operation, &subject, after: exchange.answer, record)
        } else if case .applied(let row?) = decision, case .row = exchange.answer {
            let answered = AnsweredRow(
                subject: subject, row: row, generation: remote.generation, known: record.spellings)
            if answered.mustBeRead {
                (decision, origin) = await read(answered, origin, of: operation)
            } else {
                // An update may be answered with the columns that it has changed.
                let isReplaced = operation.kind == .insert || operation.kind == .replace
                origin.isWhole = isReplaced && remote.generation != .mobileServices
            }
        }
        if case .applied(let row) = decision, operation.kind == .delete,
            record.deletion == .unknown, row?.isDeleted != true, exchange.answer.isSuccess
        {
            (decision, origin) = await readDeleted(decision, origin, of: operation)
        }
        decision = withoutToken(decision, for: record.name)
        let isInText = exchange.response?.isRefusalInText == true
        let failure = await attributeFailure(&decision, operation, gates, isInText: isInText)
        if failure != nil || decision.endsPush { slots.close() }
        var end = AttemptEnd(exchange)
        end.error = end.error ?? failure?.reason
        return JudgedRequest(
            subject: subject, decision: decision, end: end, failure: failure, origin: origin,
            refusedProtocolVersion: exchange.answer.isOtherVersion, hasVersion: hasVersion,
            answersWrite: request.method != .get && !exchange.answer.isFailure,
            answer: request.method == .get || exchange.response == nil ? nil : exchange)
    }

    /// Judges the first answer.
    ///
    /// 1. An insert whose id the backend assigns, and that may have been applied, is judged by the new rows.
    /// 2. An operation whose row is read first is judged by that row. An insert that is not there under the id
    ///    that this store made may be there under one of the backend's.
    /// 3. Any other answer is judged by itself.
    ///
    /// - Returns: the decision, and whether the row has a version; nil if it was not read.
    private func firstDecision(
        _ answer: RemoteAnswer, of operation: TableOperation, _ subject: PushSubject,
        _ record: TableRecord
    ) async throws(StoreError) -> (PushDecision, hasVersion: Bool?) {
        let remote = self.remote(for: operation)
        if operation.isAssigned, operation.maybeApplied {
            let highest = subject.highestID
            let rows = await remote.rest(of: answer, of: record.name, after: highest)
            let decision = try await store.read { transaction in
                try IntegerInsert.judge(subject, rows, after: highest) {
                    try transaction.claims.claim(on: $0, besides: operation)
                }
            }
            return (decision, nil)
        }
        guard subject.isReadFirst else {
            return (Verdict.judge(subject, answer.leavingOut(rowsThatAreNot: subject)), nil)
        }
        var subject = subject
        try await recall(&subject, operation, record)
        let proof = await proof(answer, of: operation, subject)
        var hasVersion: Bool?
        if case .rows(let page) = proof {
            hasVersion = page.rows.first { $0.id.isLike(operation.itemID) }.map {
                $0.version != nil
            }
        }
        let decision = Verdict.judge(subject, readBack: proof, after: .unknown)
        if decision == .sendAgain, operation.kind == .insert, operation.hasGeneratedID {
            return (try await judgeByLatestRows(operation, subject, record), hasVersion)
        }
        return (decision, hasVersion)
    }

    /// Judges an insert of unknown outcome that is not there under the id that this store made. A backend that
    /// assigns integers has given it another one, which this store does not know before it has seen a row.
    private func judgeByLatestRows(
        _ operation: TableOperation, _ subject: PushSubject, _ record: TableRecord
    ) async throws(StoreError) -> PushDecision {
        let answer = await remote(for: operation).list(record.name, IntegerInsert.latest)
        guard case .rows(var page) = answer else {
            if answer.isMissing {
                return Verdict.inconclusive(
                    "The backend has no such table now, so whether the item arrived cannot be told."
                )
            }
            // A backend that cannot sort by ids assigns none.
            return answer.mayRefuseOrder ? .sendAgain : Verdict.noVerdict(answer)
        }
        page.keepIntegerRows(insertedAfter: operation.firstAttemptAt ?? operation.createdAt)
        let integers = RemoteAnswer.rows(page)
        return try await store.read { transaction in
            try IntegerInsert.judge(subject, integers, after: 0) {
                try transaction.claims.claim(on: $0, besides: operation)
            }
        }
    }

    /// Reads the row back after an answer that is no verdict without it, and judges the row.
    ///
    /// After 409 an insert's id is taken, perhaps by this insert if the network sent it twice. If the row is
    /// not read, the insert may have been applied.
    private func readBack(
        _ operation: TableOperation, _ subject: inout PushSubject, after answer: RemoteAnswer,
        _ record: TableRecord
    ) async throws(StoreError) -> PushDecision {
        let remote = self.remote(for: operation)
        try await recall(&subject, operation, record)
        let list = await remote.list(record.name, .row(operation.itemID))
        let row = await proof(list, of: operation, subject)
        if row.isMissing { subject.tableExistedBefore = try await existedBefore(record) }
        let decision = Verdict.judge(
            subject, readBack: row, after: answer.refused.map { .refused($0) } ?? .unknown)
        if operation.kind == .insert, !answer.isMissing, !row.isList {
            subject.maybeApplied = true
        }
        return decision
    }

    /// Takes what the store knows of the row at the backend, so that an older answer is recognized.
    private func recall(
        _ subject: inout PushSubject, _ operation: TableOperation, _ record: TableRecord
    ) async throws(StoreError) {
        let (row, now) = try await store.read {
            (try $0.items.row(record, exactly: operation.itemID), $0.now)
        }
        // After a clock went back, an attempt of a later time is not young.
        let isYoung =
            operation.firstAttemptAt.map {
                (0..<SyncLimits.doubtedAbsenceSeconds * 1000)
                    .contains(now.milliseconds - $0.milliseconds)
            } ?? true
        subject.replaced = row?.replaced.recent(at: now) ?? ReplacedRows()
        subject.mustExist =
            operation.kind == .insert
            ? isYoung && operation.mayArriveLate
            : isYoung && record.deletion == .soft && row?.isGiven == true
                || subject.replaced.hasInsert(now)
    }

    /// What an answer proves about the row of an operation. For an insert without a verdict an empty list is enough:
    /// sent again, it takes no second effect. For a refused one it is enough if a read by id is no help.
    private func proof(
        _ answer: RemoteAnswer, of operation: TableOperation, _ subject: PushSubject
    ) async -> RemoteAnswer {
        var isEnough = false
        if operation.kind == .insert, case .rows(let page) = answer {
            isEnough = page.elements.isEmpty
        }
        if isEnough, operation.maybeApplied { return answer }
        let proof = await remote(for: operation)
            .proof(answer, of: operation.itemID, in: operation.table)
        if isEnough, proof == .unusable(status: 200, .unconfirmed) { return answer }
        return proof.leavingOut(rowsThatAreNot: subject)
    }

    /// Reads the row after an answer of success. If it has the version that the answer named, it is our own
    /// write; otherwise it may contain another writer's change.
    private func read(
        _ answered: AnsweredRow, _ origin: RowOrigin, of operation: TableOperation
    ) async -> (PushDecision, RowOrigin) {
        let remote = self.remote(for: operation)
        let list = await remote.list(operation.table, .row(answered.row.id))
        let proof = await remote.proof(list, of: answered.row.id, in: operation.table)
        // A copy that lags behind has the row as it was before the change.
        guard let now = answered.presentRow(in: proof),
            now.version == nil || now.version != answered.subject.baseVersion
        else {
            return (answered.decision(withoutRow: proof), origin)
        }
        let isOwn = origin.isOwnAnswer && answered.hasVersion(of: now)
        return (.applied(now), RowOrigin(isOwnAnswer: isOwn, unread: answered.unread(in: now)))
    }

    /// Reads the row that a delete has removed. A backend that deletes softly has it still, with a version for
    /// an undelete. If it cannot be read, the next delete finds out.
    private func readDeleted(
        _ decision: PushDecision, _ origin: RowOrigin, of operation: TableOperation
    ) async -> (PushDecision, RowOrigin) {
        let (remote, table, id) = (remote(for: operation), operation.table, operation.itemID)
        let list = await remote.list(table, .row(id))
        guard case .rows(let page) = await remote.proof(list, of: id, in: table) else {
            return (decision, origin)
        }
        var origin = origin
        let row = page.rows.first { $0.id.isLike(id) }
        origin.isReadAsGone = row == nil
        return row?.isDeleted == true ? (.applied(row), origin) : (decision, origin)
    }

    /// A decision, where there is no token: one table may require a sign-in that the other tables do not
    /// require, so the push goes on after its 401.
    private func withoutToken(_ decision: PushDecision, for table: TableName) -> PushDecision {
        guard decision == .signIn(maybeApplied: false), remote.credential == .none else {
            return decision
        }
        return .postponed(
            Postponement(
                cause: .requiresSignIn, maybeApplied: false,
                reason: "The backend asks to sign in for table \(table)."))
    }

    /// Sends an operation's request. An undelete that one form of the third generation answers with 410 is
    /// sent in the other form. 410 means that nothing happened, so both requests are one attempt.
    private func send(_ request: RemoteRequest, of operation: TableOperation) async
        -> RemoteExchange
    {
        let remote = self.remote(for: operation)
        let exchange = await remote.send(request, asList: request.method == .get)
        guard operation.kind == .undelete, request.method == .put, exchange.status == 410 else {
            return exchange
        }
        return await remote.send(.patchedUndelete(request), asList: false)
    }

    /// The backend connection for an operation, with the header fields that its client sent.
    func remote(for operation: TableOperation) -> Remote {
        var remote = remote
        remote.clientFields.override(with: operation.headers)
        return remote
    }

    /// The operation's table with its policies, usually from memory.
    func record(of table: TableName) async throws(StoreError) -> TableRecord? {
        let catalog = store.catalog.engine
        if let known = catalog.remembered(table) { return known.record }
        return try await store.read { transaction in
            try catalog.load(table) { try transaction.tables.table(table) }?.record
        }
    }

    func request(
        _ operation: TableOperation, _ subject: PushSubject, _ record: TableRecord
    ) throws(StoreError) -> RemoteRequest {
        if subject.isReadFirst {
            let query =
                operation.isAssigned
                ? IntegerInsert.since(subject.highestID) : PageQuery.row(operation.itemID)
            do throws(ODataError) {
                return try .list(operation.table, query, generation: remote.generation)
            } catch {
                throw .failed(error.description)
            }
        }
        return .operation(
            operation, isUnconditional: operation.isUnconditional(in: record),
            generation: remote.generation)
    }

    /// What an answer's row says besides its columns.
    private func origin(
        _ operation: TableOperation, _ request: RemoteRequest, _ answer: RemoteAnswer
    ) -> RowOrigin {
        let isConditional = operation.kind == .insert || request.fields[.ifMatch] != nil
        switch answer {
        case .row:
            return RowOrigin(
                isWhole: false, isOwnAnswer: isConditional && !operation.maybeApplied)
        case .empty: return RowOrigin(isOwnAnswer: isConditional)
        default: return RowOrigin()
        }
    }

    /// Checks a failure that may be the operation's own or its table's with a proof: by other tables first, if
    /// it may be the table's. If the proof fails too, the failure is the backend's.
    /// - Parameter isInText: whether a refusal may be that of a gateway which refuses all requests: it counts if
    ///   the proof succeeds after it.
    /// - Returns: the failure of the link or the backend; nil if the backend otherwise answers.
    func attributeFailure(
        _ decision: inout PushDecision, _ operation: TableOperation, _ gates: TableGates,
        isInText: Bool = false
    ) async -> Prover.Failure? {
        if isInText, case .quarantine(let reason) = decision {
            let doubted = PushDecision.postponed(
                Postponement(cause: .own, maybeApplied: false, reason: reason))
            var judged = doubted
            let failure = await attributeFailure(&judged, operation, gates)
            if judged != doubted { decision = judged }
            return failure
        }
        guard case .postponed(var later) = decision else { return nil }
        let table = operation.table
        let request = remote.failures.last(of: table)
        func busy(_ wait: Duration?) -> Prover.Failure {
            Prover.Failure(
                state: .degraded, reason: later.reason, retryAfter: wait, request: request)
        }
        switch later.cause {
        case .cancelled, .held: return nil
        case .link:
            return Prover.Failure(state: .offline, reason: later.reason, request: request)
        case .busy(let wait): return busy(wait)
        case .table(let named):
            let tables = await proofTables(table, true)
            let outcome = tables.isEmpty ? .failed(busy(named)) : await prover.prove(tables)
            guard case .failed(let found) = outcome else {
                gates.close(operation.tableID)
                later.reason = TableWait.reason(table, status: request?.status)
                decision = .postponed(later)
                return nil
            }
            // That another table is missing says nothing.
            var failure = found.isAboutTable ? busy(named) : found
            if failure.state == .signedOut {
                decision = .signIn(maybeApplied: later.maybeApplied)
                return nil
            }
            failure.retryAfter = [named, failure.retryAfter].compactMap(\.self).max()
            failure.request = request ?? failure.request
            failure.hasFailedProof = true
            later.cause = .busy(retryAfter: failure.retryAfter)
            decision = .postponed(later)
            return failure
        case .own, .requiresSignIn:
            let tables = await proofTables(table, false)
            guard case .failed(let failure) = await prover.prove(tables) else { return nil }
            guard failure.state != .signedOut else {
                decision = .signIn(maybeApplied: later.maybeApplied)
                return nil
            }
            later.cause = .busy(retryAfter: failure.retryAfter)
            decision = .postponed(later)
            return failure
        }
    }
}

extension PushSubject {
    /// Takes what the verdict needs from an operation and its table's policies.
    init(_ operation: TableOperation, _ table: TableRecord) {
        // The delete of an insert that may have arrived: only the inserted row is deleted. With an id of this
        // store's own there is no other row.
        let inserted =
            operation.kind == .delete && !operation.hasGeneratedID ? operation.payload : nil
        self.init(
            kind: operation.kind, itemID: operation.itemID,
            sent: operation.kind == .delete ? Columns() : operation.changes,
            base: operation.baseRow ?? inserted, baseVersion: operation.baseVersion,
            maybeApplied: operation.maybeApplied, mayArriveLate: operation.mayArriveLate,
            hasGeneratedID: operation.hasGeneratedID,
            conditional: operation.conditional, conflictPolicy: table.conflictPolicy,
            unconditionalPolicy: table.unconditionalPolicy,
            insertsIfGone: !operation.actor.isClient)
    }
}

extension AttemptEnd {
    /// Records how a request ended.
    init(_ exchange: RemoteExchange) {
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
    /// 404, 409, 410 or 412 with the backend's sentence; nil for any other answer.
    var refused: Refused? {
        switch self {
        case .conflict(let status, let row, let text):
            Refused(status: status, text: text, version: row?.version)
        case .missing(let status, let text): Refused(status: status, text: text)
        default: nil
        }
    }

    /// 404 or 410.
    var isMissing: Bool { if case .missing = self { true } else { false } }

    /// Whether the backend refuses the protocol version of the request.
    var isOtherVersion: Bool {
        if case .unusable(_, .otherVersion) = self { true } else { false }
    }

    /// 2xx to a write.
    var isSuccess: Bool {
        switch self {
        case .row, .empty: true
        default: false
        }
    }

    /// Whether the answer is a list, which is how a row is read back.
    var isList: Bool { if case .rows = self { true } else { false } }
}
