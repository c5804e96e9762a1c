import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import Synchronization
import TablesProtocol

// Writes: they join the current group commit and are answered when it is on disk. They do not wait for the
// network, but for an insert into a table whose ids the backend assigns, and under the policy write-through. A
// stop waits for a commit and sends its real answer; 503 means that nothing was written.
extension TablesRoutes {
    func write(
        _ context: RequestContext, _ action: WriteAction,
        stated: ItemBody.Stated = ItemBody.Stated(),
        _ request: Request
    ) -> Answer {
        let write = LocalWrite(
            table: context.call.table, action: action, conditions: context.call.conditions,
            stated: stated, generation: context.call.generation,
            parameters: context.call.parameters,
            headers: context.headers, trace: context.trace, actor: context.actor)
        let asksFirst = asksBeforeInsert(context)
        let waits = writesThrough(context)
        return .later { reply in
            guard asksFirst else { return commit(context, write, waits: waits, reply) }
            work.start {
                switch await permission(context) {
                case .allowed:
                    // By now the kind of the table's ids may be known.
                    readLater(context) { commit($0, write, waits: writesThrough($0), reply) }
                case .refused(let refusal): reply(refusal)
                case .unreadable: insertThrough(context, request, reply)
                }
            }
        }
    }

    /// - Parameter waits: see ``writesThrough(_:)``.
    private func commit(
        _ context: RequestContext, _ write: LocalWrite, waits: Bool, _ reply: Reply
    ) {
        guard reply.tryBeginChange() else { return }
        var write = write
        write.isAwaited = waits
        context.tenant.store.submit(write) { [write] outcome in
            if case .unknownWhilePartial = outcome, let id = context.target,
                context.tenant.backendStatus.mayAsk
            {
                // Nothing was written.
                reply.endChange(answerOnStop: finished(outcome, context))
                afterFetch(of: id, context, write, reply)
            } else if waits, let item = outcome.item {
                reply.endChange(answerOnStop: finished(outcome, context))
                writeThrough(context, outcome, item, reply)
            } else {
                finish(outcome, context, reply)
            }
        }
    }

    /// Fetches the item from the backend, since its table is not copied yet, and commits the write again.
    /// If the backend does not give the item, its answer is the client's.
    private func afterFetch(
        of id: ItemID, _ context: RequestContext, _ write: LocalWrite, _ reply: Reply
    ) {
        work.start {
            let answer = try? await context.tenant.engine.fetch(
                await presentID(context, id), of: context.call.table, headers: context.headers,
                generation: context.call.generation)
            switch answer {
            case .refused(let response, let reason, let spoken)?:
                // A page names the request of this program instead of the client's.
                let known = response.beginsLikePage ? nil : spoken
                reply(passed(response, reason, spoken: known, context))
            case .withoutRow(let reason)?: reply(withoutRow(context, reason))
            case .unreachable(_, let wait)?: reply(offlineAnswer(context, wait))
            case .page?, .item?, .other?, .untranslatable?: reply(offlineAnswer(context, nil))
            case nil:
                guard reply.tryBeginChange() else { return }
                var write = write
                write.isAwaited = writesThrough(context.moved(to: blockingExecutor.worker))
                let outcome = await context.tenant.store.submit(write)
                guard write.isAwaited, let item = outcome.item else {
                    return finish(outcome, context, reply)
                }
                reply.endChange(answerOnStop: finished(outcome, context))
                writeThrough(context, outcome, item, reply)
            }
        }
    }

    /// Answers a write, and notes it if the store refused it.
    private func finish(_ outcome: WriteOutcome, _ context: RequestContext, _ reply: Reply) {
        let response = finished(outcome, context)
        refusedWrites.note(outcome, status: response.head.status.code)
        reply(response)
    }

    /// - Parameter state: the item's; whatever was just written here waits to be sent.
    func finished(
        _ outcome: WriteOutcome, _ context: RequestContext, state: ItemState = .pending
    ) -> Response {
        func written(_ response: Response) -> Response {
            annotated(response, context, state: state)
        }
        return switch outcome {
        case .inserted(let item, _): written(context.answer.render(inserted: item))
        case .updated(let item, _): written(context.answer.render(item: item))
        case .deleted(let item, _):
            written(context.answer.render(deleted: speaksAsNode(context) ? item : nil))
        case .undeleted(let item, _): written(context.answer.render(undeleted: item))
        case .missing:
            context.error(context.target.map { .notFound($0) } ?? .failed("No such item."))
        case .gone(let item): context.error(.gone(item.id))
        case .preconditionFailed(let item): context.error(.preconditionFailed(item))
        case .alreadyExists(let item): context.error(.conflict(item))
        case .unknownWhilePartial:
            context.error(.offline(retryAfterSeconds: Limits.retryAfterSeconds))
        case .tableNotAllowed: context.error(.unknownTable(context.call.table.text))
        case .invalid(let sentence): context.error(.badRequest(sentence))
        case .storageFull(let byBudget): context.error(.storageFull(byBudget: byBudget))
        case .readOnly:
            context.error(
                .unavailable(
                    "The store cannot be written.", retryAfterSeconds: Limits.retryAfterSeconds))
        case .busy:
            context.error(
                .unavailable(
                    "Too many writes wait for the disk.",
                    retryAfterSeconds: Limits.retryAfterSeconds))
        case .failed(let sentence): context.error(.failed(sentence))
        }
    }
}

// Writes that wait for the backend's verdict: by the policy write-through, or for an id.
extension TablesRoutes {
    /// Whether a write waits for the backend's verdict: by the table's policy, or because it inserts into a
    /// table whose ids are, or may be, the backend's, so that the client gets the item's own id at once.
    func writesThrough(_ context: RequestContext) -> Bool {
        let table = context.table.settings
        let backendStatus = context.tenant.backendStatus
        if table?.pause.stopsPushes == true { return false }
        // The dashboard shows the state of each write, so a person waits for none.
        if context.table.writePolicy == .writeThrough, context.actor != .person {
            return backendStatus.mayAsk
        }
        return needsAssignedID(context) && backendStatus.sendsWrites
    }

    /// Whether it inserts an item whose id only the backend gives, or may give: the answer to the first insert shows
    /// what ids the table has, where no row has shown it.
    private func needsAssignedID(_ context: RequestContext) -> Bool {
        guard case .insert(let body) = context.call.verb else { return false }
        let table = context.table.settings
        let isUnknown = table?.lastPull == nil || table?.columnNames.isEmpty == true
        let mayShowID =
            body.id == nil && context.call.generation != .datasync && isUnknown
            && context.actor != .person
        return table?.idKind == .integer || mayShowID
    }

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
    func writeThrough(
        _ context: RequestContext, _ outcome: WriteOutcome, _ item: Item, _ reply: Reply
    ) {
        // The first of the two paths answers. A write that was acknowledged must not be withdrawn.
        let once = OnceFlag()
        let engine = context.tenant.engine
        let write = AwaitedWrite(
            table: context.call.table, itemID: item.id, operation: outcome.operation?.id,
            client: context.client, waitsInLine: needsAssignedID(context))
        let late: @Sendable () -> Void = {
            guard once.claim() else { return }
            engine.acknowledged(write)
            reply(finished(outcome, context))
        }
        work.start {
            await TimeOut.run(.milliseconds(Limits.writeWaitMilliseconds), late: late) {
                let isAnswered = await engine.send(write) { verdict in
                    guard let response = answer(to: verdict, outcome, context) else {
                        return false
                    }
                    guard once.claim() else { return true }
                    await withdraw(verdict, response, outcome, context, reply)
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
        _ context: RequestContext, _ reply: Reply
    ) async {
        guard verdict.standing.own?.state != .discarded, let operation = verdict.standing.operation
        else { return reply(response) }
        var isRefused = outcome.operation?.id == operation.id
        if isRefused, outcome.operation?.isOwn == true {
            isRefused =
                (try? await context.tenant.store.withdraw(
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
            return reply(finished(outcome, context, state: state))
        }
        var response = response
        response.head.headerFields[.understudyState] = nil
        reply(response)
    }

    /// The answer for the backend's verdict on a write; nil while there is none.
    private func answer(
        to verdict: WriteVerdict, _ outcome: WriteOutcome, _ context: RequestContext
    ) -> Response? {
        let standing = verdict.standing
        if let own = standing.own, own.state == .discarded {
            return annotated(conflict(own.kind, standing, context), context)
        }
        guard let operation = standing.operation else {
            guard let written = verdict.written else {
                return finished(outcome.with(standing.item), context, state: .synced)
            }
            // The backend's own row, also with what its lists do not show.
            var direct = context
            direct.answer = TablesAnswer(to: context.call)
            return finished(outcome.with(written), direct, state: .synced)
        }
        switch operation.state {
        case .conflict:
            return annotated(
                conflict(operation.kind, standing, context), context, state: .conflict)
        case .quarantined:
            return refusal(verdict, operation.lastStatus ?? 400, context)
        case .waiting, .queued:
            if verdict.asksToSignIn { return refusal(verdict, 401, context) }
            return verdict.hasFailed ? refusal(verdict, 500, context) : nil
        case .sending, .unknown, .done, .discarded, .collapsed: return nil
        }
    }

    /// The backend's refusal: its own answer, or the sentence that is known of it.
    private func refusal(
        _ verdict: WriteVerdict, _ status: Int, _ context: RequestContext
    ) -> Response {
        let sentence = verdict.standing.refusal ?? "The backend refuses it."
        if let answer = verdict.answer {
            return passed(
                answer, sentence, spoken: context.tenant.backendStatus.generation, context)
        }
        return annotated(
            context.error(
                status == 401
                    ? .unauthorized()
                    : .refusedByBackend(
                        status: (400..<600).contains(status) ? status : 400, sentence)), context)
    }

    /// The answer of a backend that has another row: 409 for an insert, else 412, or 404 without a row.
    private func conflict(
        _ kind: OperationKind, _ standing: ItemStanding, _ context: RequestContext
    ) -> Response {
        let error: TablesError =
            if kind == .insert { .conflict(standing.server) } else {
                standing.server.map { .preconditionFailed($0) }
                    ?? context.target.map { .notFound($0) } ?? .conflict(nil)
            }
        return context.error(error)
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
