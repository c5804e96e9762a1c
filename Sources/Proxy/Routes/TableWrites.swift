import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import Synchronization
import TablesProtocol

/// Writes: they join the current group commit and are answered when it is on disk. They do not wait for the
/// network, but for an insert into a table whose ids the backend assigns, and under the policy write-through. A
/// stop waits for a commit and sends its real answer; 503 means that nothing was written.
struct TableWrites: Sendable {
    let tenants: TenantRegistry
    let waiting: Waiting
    let permission: InsertPermission
    let refused: RefusedWrites

    func write(
        _ request: TableRequest, _ action: WriteAction,
        stated: ItemBody.Stated = ItemBody.Stated()
    ) -> Answer {
        let write = LocalWrite(
            table: request.call.table, action: action, conditions: request.call.conditions,
            stated: stated, generation: request.call.generation,
            parameters: request.call.parameters,
            headers: request.headers, trace: request.trace, actor: request.actor)
        let asksFirst = permission.isNeeded(for: request)
        return .later { reply in
            guard asksFirst else { return commit(request, write, reply) }
            waiting.work.start {
                switch await permission.decide(request) {
                case .allowed:
                    // By now the kind of the table's ids may be known.
                    waiting.readLater(request) { commit($0, write, reply) }
                case .refused(let refusal): reply(refusal)
                case .unreadable: permission.insertThrough(request, reply)
                }
            }
        }
    }

    private func commit(_ request: TableRequest, _ write: LocalWrite, _ reply: Reply) {
        guard reply.tryBeginChange() else { return }
        var write = write
        write.isAwaited = writesThrough(request)
        request.tenant.store.submit(write) { [write] outcome in
            if case .unknownWhilePartial = outcome, let id = request.target,
                request.status.mayAsk
            {
                // Nothing was written.
                reply.endChange(answerOnStop: finished(outcome, request))
                afterFetch(of: id, request, write, reply)
            } else {
                finish(outcome, request, isAwaited: write.isAwaited, reply)
            }
        }
    }

    /// Fetches the item from the backend, since its table is not copied yet, and commits the write again.
    /// If the backend does not give the item, its answer is the client's.
    private func afterFetch(
        of id: ItemID, _ request: TableRequest, _ write: LocalWrite, _ reply: Reply
    ) {
        waiting.work.start {
            let answer = try? await request.tenant.engine.fetch(
                await request.presentID(id), of: request.call.table, headers: request.headers,
                generation: request.call.generation)
            switch answer {
            case .refused(let response, let reason, let spoken)?:
                // A page names the request of this program instead of the client's.
                let known = response.beginsLikePage ? nil : spoken
                reply(request.passed(response, reason, spoken: known))
            case .withoutRow(let reason)?: reply(request.withoutRow(reason))
            case .unreachable(_, let wait)?: reply(request.offline(wait))
            case .page?, .item?, .other?, .untranslatable?: reply(request.offline())
            case nil:
                guard reply.tryBeginChange() else { return }
                var write = write
                write.isAwaited = writesThrough(request.moved(to: waiting.executor.worker))
                let outcome = await request.tenant.store.submit(write)
                finish(outcome, request, isAwaited: write.isAwaited, reply)
            }
        }
    }

    /// Answers a write, or waits for the backend's verdict on it. One that the store refused is noted.
    private func finish(
        _ outcome: WriteOutcome, _ request: TableRequest, isAwaited: Bool, _ reply: Reply
    ) {
        let response = finished(outcome, request)
        guard isAwaited, let item = outcome.item else {
            refused.note(outcome, status: response.head.status.code)
            return reply(response)
        }
        reply.endChange(answerOnStop: response)
        writeThrough(request, outcome, item, reply)
    }

    /// - Parameter state: the item's; whatever was just written here waits to be sent.
    private func finished(
        _ outcome: WriteOutcome, _ request: TableRequest, state: ItemState = .pending
    ) -> Response {
        func written(_ response: Response) -> Response {
            request.annotated(response, state: state)
        }
        func later(_ sentence: String) -> TablesError {
            .unavailable(sentence, retryAfterSeconds: Limits.retryAfterSeconds)
        }
        let error: TablesError
        switch outcome {
        case .inserted(let item, _): return written(request.answer.render(inserted: item))
        case .updated(let item, _): return written(request.answer.render(item: item))
        case .deleted(let item, _):
            let shown = request.speaksAsNode(tenants) ? item : nil
            return written(request.answer.render(deleted: shown))
        case .undeleted(let item, _): return written(request.answer.render(undeleted: item))
        case .missing: error = request.target.map { .notFound($0) } ?? .failed("No such item.")
        case .gone(let item): error = .gone(item.id)
        case .preconditionFailed(let item): error = .preconditionFailed(item)
        case .alreadyExists(let item): error = .conflict(item)
        case .unknownWhilePartial:
            error = .offline(retryAfterSeconds: Limits.retryAfterSeconds)
        case .tableNotAllowed: error = .unknownTable(request.call.table.text)
        case .invalid(let sentence): error = .badRequest(sentence)
        case .storageFull(let byBudget): error = .storageFull(byBudget: byBudget)
        case .readOnly: error = later("The store cannot be written.")
        case .busy: error = later("Too many writes wait for the disk.")
        case .failed(let sentence): error = .failed(sentence)
        }
        return request.error(error)
    }

    /// Whether a write waits for the backend's verdict: by the table's policy, or because it inserts into a
    /// table whose ids are, or may be, the backend's, so that the client gets the item's own id at once.
    private func writesThrough(_ request: TableRequest) -> Bool {
        if request.table.record?.pause.stopsPushes == true { return false }
        // The dashboard shows the state of each write, so a person waits for none.
        let policy = request.tenant.store.writePolicy(of: request.table)
        if policy == .writeThrough, request.actor != .person { return request.status.mayAsk }
        return needsAssignedID(request) && request.status.sendsWrites
    }

    /// Whether it inserts an item whose id only the backend gives, or may give: the answer to the first insert shows
    /// what ids the table has, where no row has shown it.
    private func needsAssignedID(_ request: TableRequest) -> Bool {
        guard case .insert(let body) = request.call.verb else { return false }
        let table = request.table.record
        if table?.idKind == .integer { return true }
        let isUnknown = table?.lastPull == nil || table?.columnNames.isEmpty == true
        return body.id == nil && request.call.generation != .datasync && isUnknown
            && request.actor != .person
    }
}

// Writes that wait for the backend's verdict: by the policy write-through, or for an id.
extension TableWrites {
    /// Answers a write that is on disk with the backend's verdict.
    ///
    /// 1. The engine sends it at once where nothing is ahead of it (``SyncEngine/send(_:answer:)``).
    /// 2. If the operation that contains the write was discarded meanwhile, as by the table's policy, the
    ///    answer is that of a conflict.
    /// 3. If the item has no open operation, the backend has the write. The answer shows the item's row.
    /// 4. If the backend refuses the operation, asks for a sign-in, has another row, or has failed without
    ///    an effect, and the operation consists of this write alone, it is withdrawn
    ///    (``Store/withdraw(_:isWaiting:earlierVersion:)``). The answer is the backend's. If the write changed nothing because
    ///    the operation of an earlier write has its change, the answer is the same and the operation stays.
    /// 5. Otherwise, and without a verdict in time, the write stays and may still be sent. The answer is
    ///    that of a local write, with the item's state.
    private func writeThrough(
        _ request: TableRequest, _ outcome: WriteOutcome, _ item: Item, _ reply: Reply
    ) {
        // The first of the two paths answers. A write that was acknowledged must not be withdrawn.
        let once = OnceFlag()
        let engine = request.tenant.engine
        let write = AwaitedWrite(
            table: request.call.table, itemID: item.id, operation: outcome.operation?.id,
            client: request.client, waitsInLine: needsAssignedID(request))
        let late: @Sendable () -> Void = {
            guard once.claim() else { return }
            engine.acknowledged(write)
            reply(finished(outcome, request))
        }
        waiting.work.start {
            await TimeOut.run(.milliseconds(Limits.writeWaitMilliseconds), late: late) {
                let isAnswered = await engine.send(write) { verdict in
                    guard let response = answer(to: verdict, outcome, request) else {
                        return false
                    }
                    guard once.claim() else { return true }
                    await withdraw(verdict, response, outcome, request, reply)
                    return true
                }
                if !isAnswered { late() }
            }
        }
    }

    /// Answers with a verdict. A refused operation is withdrawn before its client is answered. If it does
    /// not contain the client's write, or consists of more than that write, it stays, and the answer is that
    /// of a local write.
    private func withdraw(
        _ verdict: WriteVerdict, _ response: Response, _ outcome: WriteOutcome,
        _ request: TableRequest, _ reply: Reply
    ) async {
        guard verdict.standing.own?.state != .discarded, let operation = verdict.standing.operation
        else { return reply(response) }
        var isRefused = outcome.operation?.id == operation.id
        if isRefused, outcome.operation?.isOwn == true {
            isRefused =
                (try? await request.tenant.store.withdraw(
                    operation.id, isWaiting: verdict.asksToSignIn || verdict.hasFailed,
                    earlierVersion: outcome.operation?.earlierVersion)) == true
        }
        guard isRefused else {
            let state: ItemState =
                switch operation.state {
                case .conflict: .conflict
                case .quarantined: .quarantined
                case .queued, .sending, .waiting, .unknown, .done, .discarded, .collapsed: .pending
                }
            return reply(finished(outcome, request, state: state))
        }
        var response = response
        response.head.headerFields[own: .state] = nil
        reply(response)
    }

    /// The answer for the backend's verdict on a write; nil while there is none.
    private func answer(
        to verdict: WriteVerdict, _ outcome: WriteOutcome, _ request: TableRequest
    ) -> Response? {
        let standing = verdict.standing
        if let own = standing.own, own.state == .discarded {
            return request.refused(conflict(own.kind, standing, request))
        }
        guard let operation = standing.operation else {
            guard let written = verdict.written else {
                return finished(outcome.with(standing.item), request, state: .synced)
            }
            // The backend's own row, also with what its lists do not show.
            var direct = request
            direct.answer = TablesAnswer(to: request.call)
            return finished(outcome.with(written), direct, state: .synced)
        }
        switch operation.state {
        case .conflict:
            return request.annotated(
                request.error(conflict(operation.kind, standing, request)), state: .conflict)
        case .quarantined: return refusal(verdict, operation.lastStatus ?? 400, request)
        case .waiting, .queued:
            if verdict.asksToSignIn { return refusal(verdict, 401, request) }
            return verdict.hasFailed ? refusal(verdict, 500, request) : nil
        case .sending, .unknown, .done, .discarded, .collapsed: return nil
        }
    }

    /// The backend's refusal: its own answer, or the sentence that is known of it.
    private func refusal(
        _ verdict: WriteVerdict, _ status: Int, _ request: TableRequest
    ) -> Response {
        let sentence = verdict.standing.refusal ?? "The backend refuses it."
        if let answer = verdict.answer {
            return request.passed(answer, sentence, spoken: request.status.generation)
        }
        if status == 401 { return request.refused(.unauthorized()) }
        let known = (400..<600).contains(status) ? status : 400
        return request.refused(.refusedByBackend(status: known, sentence))
    }

    /// The answer of a backend that has another row: 409 for an insert, else 412, or 404 without a row.
    private func conflict(
        _ kind: OperationKind, _ standing: ItemStanding, _ request: TableRequest
    ) -> TablesError {
        if kind == .insert { return .conflict(standing.server) }
        return standing.server.map { .preconditionFailed($0) }
            ?? request.target.map { .notFound($0) } ?? .conflict(nil)
    }
}

/// Counts and logs the writes that a store refused, whatever they were. Of each reason the first one is
/// logged at once, and the others with their number after ``Limits/refusedWritesSeconds``. Clients may try
/// without end, and the log must not grow with them.
final class RefusedWrites: Sendable {
    /// Why a store takes no write. The raw value is a stable word for programs.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        case diskBudget = "disk-budget"
        case disk
        case readOnly = "read-only"
        case busy
        case failed
        /// The store of an identity cannot be opened.
        case unopened
    }

    private struct Count {
        var total = 0
        var logged = 0
        /// When a line was last logged; nil before the first.
        var loggedAt: Instant?
    }

    private let log: Logger
    private let now: @Sendable () -> Instant
    private let counts = Mutex<[Reason: Count]>([:])

    init(log: Logger, now: @escaping @Sendable () -> Instant) {
        self.log = log
        self.now = now
    }

    func note(_ outcome: WriteOutcome, status: Int) {
        if let reason = Reason(outcome) { note(reason, status: status) }
    }

    func note(_ reason: Reason, status: Int) {
        let at = now()
        let unlogged = counts.withLock { counts -> Int? in
            var count = counts[reason] ?? Count()
            count.total += 1
            defer { counts[reason] = count }
            if let last = count.loggedAt {
                let age = at.milliseconds - last.milliseconds
                // A clock that was set back does not silence the log.
                guard !(0..<Limits.refusedWritesSeconds * 1000).contains(age) else { return nil }
            }
            let unlogged = count.total - count.logged
            (count.logged, count.loggedAt) = (count.total, at)
            return unlogged
        }
        guard let unlogged else { return }
        log.warning(
            "writes refused",
            metadata: [
                "reason": "\(reason.sentence)", "status": .stringConvertible(status),
                "writes": .stringConvertible(unlogged),
            ])
    }

    /// The number of refused writes since the start, for every reason.
    var totals: [(reason: Reason, count: Int)] {
        let counts = counts.withLock { $0 }
        return Reason.allCases.map { (reason: $0, count: counts[$0]?.total ?? 0) }
    }
}

extension RefusedWrites.Reason {
    /// The reason of an outcome; nil for a success, and for a verdict on the write itself.
    init?(_ outcome: WriteOutcome) {
        switch outcome {
        case .storageFull(byBudget: true): self = .diskBudget
        case .storageFull(byBudget: false): self = .disk
        case .readOnly: self = .readOnly
        case .busy: self = .busy
        case .failed: self = .failed
        default: return nil
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .diskBudget: "the disk budget is used up"
        case .disk: "the disk is full"
        case .readOnly: "the store cannot be written"
        case .busy: "too many writes wait for the disk"
        case .failed: "the store failed"
        case .unopened: "the store of an identity cannot be opened"
        }
    }
}
