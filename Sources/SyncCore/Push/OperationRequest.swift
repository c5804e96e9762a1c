import HTTPTypes
import TablesProtocol

/// One request of an operation, and the further requests that show what its answer means.
struct OperationRequest {
    let request: RemoteRequest
    let operation: TableOperation
    let table: TableRecord
    let remote: Remote
    let store: Store

    /// Sends the request. An undelete that one form of the third generation answers with 410 is sent in the
    /// other form. 410 means that nothing happened, so both requests are one attempt.
    func send() async -> RemoteExchange {
        let exchange = await remote.send(request, asList: request.method == .get)
        guard operation.kind == .undelete, request.method == .put, exchange.status == 410 else {
            return exchange
        }
        return await remote.send(.patchedUndelete(request), asList: false)
    }

    /// Judges the answer.
    ///
    /// 1. An operation whose row is read first is judged by that row, any other by the answer.
    /// 2. If the verdict asks for it, the row is read back and judged.
    /// 3. If an answer of success leaves out what was sent or what the item's next change needs, or shows what
    ///    reads may not give, the row is read (``AnsweredRow``). It becomes the server's row.
    /// 4. After a delete in a table of which it is not known yet, it is read whether the backend keeps the row as
    ///    deleted.
    func judge(
        _ exchange: RemoteExchange, _ subject: inout PushSubject
    ) async throws(StoreError) -> PushOutcome {
        let answer = exchange.answer
        if answer.isMissing { subject.tableExistedBefore = try await existedBefore() }
        if subject.isReadFirst {
            return withoutToken(
                operation.isAssigned && operation.maybeApplied
                    ? try await judgeAssigned(answer, subject)
                    : try await judgeRead(answer, &subject))
        }
        if answer.refused != nil { try await recall(&subject) }
        guard var outcome = Verdict.judge(subject, answer.leavingOut(rowsThatAreNot: subject))
        else { return withoutToken(try await readBack(&subject, after: answer)) }
        if case .applied(let row, _) = outcome {
            outcome = .applied(row: row, origin(of: answer))
            if let row, case .row = answer { outcome = await complete(row, outcome, subject) }
            if operation.kind == .delete { outcome = await readDeleted(outcome, answer) }
        }
        return withoutToken(outcome)
    }

    private func existedBefore() async throws(StoreError) -> Bool {
        let table = table
        return try await store.read { try $0.tables.existedBefore(table) }
    }

    /// Judges an insert whose id the backend assigns, and that may have been applied, by the new rows.
    private func judgeAssigned(
        _ answer: RemoteAnswer, _ subject: PushSubject
    ) async throws(StoreError) -> PushOutcome {
        let rows = await remote.rest(of: answer, of: table.name, after: subject.highestID)
        return try await judge(rows, subject, after: subject.highestID)
    }

    private func judge(
        _ rows: RemoteAnswer, _ subject: PushSubject, after highest: Int64
    ) async throws(StoreError) -> PushOutcome {
        let operation = operation
        return try await store.read { transaction in
            try IntegerInsert.judge(subject, rows, after: highest) {
                try transaction.claims.claim(on: $0, besides: operation)
            }
        }
    }

    /// Judges a row that was read before anything is sent. An insert that is not there under the id that this
    /// store made may be there under one of the backend's.
    private func judgeRead(
        _ answer: RemoteAnswer, _ subject: inout PushSubject
    ) async throws(StoreError) -> PushOutcome {
        try await recall(&subject)
        let proof = await proof(answer, subject)
        if case .rows(let page) = proof {
            let row = page.rows.first { $0.id.isLike(operation.itemID) }
            subject.hasVersion = row.map { $0.version != nil }
        }
        let outcome = Verdict.judge(subject, readBack: proof, after: nil)
        guard case .sendAgain = outcome, operation.kind == .insert, operation.hasGeneratedID
        else { return outcome }
        return try await judgeByLatestRows(subject)
    }

    /// Judges an insert of unknown outcome that is not there under the id that this store made. A backend that
    /// assigns integers has given it another one, which this store does not know before it has seen a row.
    private func judgeByLatestRows(
        _ subject: PushSubject
    ) async throws(StoreError) -> PushOutcome {
        let answer = await remote.list(table.name, IntegerInsert.latest)
        guard case .rows(var page) = answer else {
            if answer.isMissing {
                return Verdict.inconclusive(
                    "The backend has no such table now, so whether the item arrived cannot be told."
                )
            }
            // A backend that cannot sort by ids assigns none.
            return answer.mayRefuseOrder ? Verdict.sendAgain(subject) : Verdict.noVerdict(answer)
        }
        page.keepIntegerRows(insertedAfter: operation.firstAttemptAt ?? operation.createdAt)
        return try await judge(.rows(page), subject, after: 0)
    }

    /// Reads the row back after an answer that is no verdict without it, and judges the row.
    ///
    /// After 409 an insert's id is taken, perhaps by this insert if the network sent it twice. If the row is
    /// not read, the insert may have been applied.
    private func readBack(
        _ subject: inout PushSubject, after answer: RemoteAnswer
    ) async throws(StoreError) -> PushOutcome {
        let row = await proof(await remote.list(table.name, .row(operation.itemID)), subject)
        if row.isMissing { subject.tableExistedBefore = try await existedBefore() }
        let outcome = Verdict.judge(subject, readBack: row, after: answer.refused)
        if operation.kind == .insert, !answer.isMissing, !row.isList {
            subject.operation.maybeApplied = true
        }
        return outcome
    }

    /// Takes what the store knows of the row at the backend, so that an older answer is recognized.
    private func recall(_ subject: inout PushSubject) async throws(StoreError) {
        let (table, id) = (table, operation.itemID)
        let (row, now) = try await store.read { (try $0.items.row(table, exactly: id), $0.now) }
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
            : isYoung && table.deletion == .soft && row?.isGiven == true
                || subject.replaced.hasInsert(now)
    }

    /// What an answer proves about the row of an operation. For an insert without a verdict an empty list is enough:
    /// sent again, it takes no second effect. For a refused one it is enough if a read by id is no help.
    private func proof(_ answer: RemoteAnswer, _ subject: PushSubject) async -> RemoteAnswer {
        var isEnough = false
        if operation.kind == .insert, case .rows(let page) = answer {
            isEnough = page.elements.isEmpty
        }
        if isEnough, operation.maybeApplied { return answer }
        let proof = await remote.proof(answer, of: operation.itemID, in: table.name)
        if isEnough, proof == .unusable(status: 200, .unconfirmed) { return answer }
        return proof.leavingOut(rowsThatAreNot: subject)
    }

    /// What an answer's row says besides its columns.
    private func origin(of answer: RemoteAnswer) -> RowOrigin {
        let isConditional = operation.kind == .insert || request.fields[.ifMatch] != nil
        switch answer {
        case .row:
            return RowOrigin(
                isWhole: false, isOwnAnswer: isConditional && !operation.maybeApplied)
        case .empty: return RowOrigin(isOwnAnswer: isConditional)
        default: return RowOrigin()
        }
    }

    /// Reads the row after an answer of success that does not show all of it. If it has the version that the answer
    /// named, it is our own write; otherwise it may contain another writer's change.
    private func complete(
        _ row: RemoteRow, _ applied: PushOutcome, _ subject: PushSubject
    ) async -> PushOutcome {
        guard case .applied(_, var origin) = applied else { return applied }
        let answered = AnsweredRow(subject: subject, row: row, generation: remote.generation)
        guard answered.mustBeRead else {
            // An update may be answered with the columns that it has changed.
            let isReplaced = operation.kind == .insert || operation.kind == .replace
            origin.isWhole = isReplaced && remote.generation != .mobileServices
            return .applied(row: row, origin)
        }
        let list = await remote.list(table.name, .row(row.id))
        let proof = await remote.proof(list, of: row.id, in: table.name)
        // A copy that lags behind has the row as it was before the change.
        guard let now = answered.presentRow(in: proof),
            now.version == nil || now.version != subject.baseVersion
        else {
            let outcome = answered.outcome(withoutRow: proof)
            if case .applied(let row, _) = outcome { return .applied(row: row, origin) }
            return outcome
        }
        let isOwn = origin.isOwnAnswer && answered.hasVersion(of: now)
        return .applied(
            row: now, RowOrigin(isOwnAnswer: isOwn, unread: answered.unread(in: now)))
    }

    /// Reads the row that a delete has removed, unless it is known what the backend does with such rows. One that
    /// deletes softly has it still, with a version for an undelete. If it cannot be read, the next delete finds out.
    private func readDeleted(_ applied: PushOutcome, _ answer: RemoteAnswer) async -> PushOutcome {
        guard case .applied(let row, var origin) = applied, table.deletion == .unknown,
            row?.isDeleted != true, answer.outcome == .succeeded
        else { return applied }
        let id = operation.itemID
        let list = await remote.list(table.name, .row(id))
        guard case .rows(let page) = await remote.proof(list, of: id, in: table.name) else {
            return applied
        }
        let found = page.rows.first { $0.id.isLike(id) }
        origin.isReadAsGone = found == nil
        return .applied(row: found?.isDeleted == true ? found : row, origin)
    }

    /// An outcome, where there is no token: one table may require a sign-in that the other tables do not
    /// require, so the push goes on after its 401.
    private func withoutToken(_ outcome: PushOutcome) -> PushOutcome {
        guard outcome == .postponed(.signIn()), remote.credential == .none else { return outcome }
        return .postponed(
            Postponement(
                cause: .requiresSignIn,
                reason: "The backend asks to sign in for table \(table.name)."))
    }
}

extension RemoteAnswer {
    /// 404, 409, 410 or 412 with the backend's sentence; nil for any other answer.
    fileprivate var refused: Refused? {
        switch self {
        case .conflict(let status, let row, let text):
            Refused(status: status, text: text, version: row?.version)
        case .missing(let status, let text): Refused(status: status, text: text)
        default: nil
        }
    }
}
