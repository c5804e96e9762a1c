import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// The policies of a table for reads and writes.
extension TablesRoutes {
    /// Answers a read by the table's policy.
    ///
    /// - `local`: from the store.
    /// - `revalidate`: from the store; then the table is pulled.
    /// - `remote-first`: the table is pulled first, then the answer is from the store, with the client's own
    ///   changes. If the backend cannot be reached or is too slow, only from the store.
    func read(
        _ context: RequestContext, _ local: @escaping @Sendable (RequestContext) -> Answer
    ) -> Answer {
        guard let table = context.table.settings, table.readPolicy != .local,
            context.tenant.backendStatus.mayPullForRead
        else {
            return local(context)
        }
        switch table.readPolicy {
        case .local: return local(context)
        case .revalidate:
            let answer = local(context)
            context.tenant.engine.nudge(.read(context.call.table))
            return answer
        case .remoteFirst:
            // A table that is not complete is pulled before its answer anyway.
            guard table.isComplete else { return local(context) }
            return .later { reply in pull(context) { _, context in local(context).send(reply) } }
        }
    }

    /// Pulls the request's table, and calls `then` in the blocking executor: with the run, or with nil after
    /// ``Limits/backendWaitSeconds``. The pull goes on after that.
    func pull(
        _ context: RequestContext, then: @escaping @Sendable (Run?, RequestContext) -> Void
    ) {
        let once = OnceFlag()
        work.start {
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.claim() { readLater(context) { then(nil, $0) } }
            } work: {
                let run = await context.tenant.engine.pull(
                    context.call.table, isExplicit: false)
                // The answer shows the backend's state after the pull.
                await context.tenant.refreshBackendStatus()
                if once.claim() { readLater(context) { then(run, $0) } }
            }
        }
    }

    /// Whether a write waits for the backend's verdict: by the table's policy, or because it inserts into a
    /// table whose ids are the backend's, so that the client gets the item's own id at once.
    func writesThrough(_ context: RequestContext) -> Bool {
        let table = context.table.settings
        let backendStatus = context.tenant.backendStatus
        if table?.writePolicy == .writeThrough { return backendStatus.mayAsk }
        guard table?.idKind == .integer, case .insert = context.call.verb else { return false }
        return backendStatus.sendsWrites
    }

    /// Answers a write that is on disk with the backend's verdict.
    ///
    /// 1. The queue is pushed, up to ``Limits/writeThroughPushes`` times: a running push may have begun
    ///    before the write.
    /// 2. If the operation that contains the write was discarded meanwhile, as by the table's policy, the
    ///    answer is that of a conflict.
    /// 3. If the item has no open operation, the backend has the write. The answer shows the item's row.
    /// 4. If the operation is a conflict or refused, and consists of this write alone, it is withdrawn
    ///    (``Store/withdraw(_:)``). The answer is the backend's. If the write changed nothing because the
    ///    operation of an earlier write has its change, the answer is the same and the operation stays.
    /// 5. Otherwise, and without a verdict in time, the write stays and may still be sent. The answer is
    ///    that of a local write, with the item's state.
    func writeThrough(
        _ context: RequestContext, _ outcome: WriteOutcome, _ item: Item, _ reply: Reply
    ) {
        // The first of the two paths answers. A write that was acknowledged must not be withdrawn.
        let once = OnceFlag()
        work.start {
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.claim() { reply(finished(outcome, context)) }
            } work: {
                for _ in 0..<Limits.writeThroughPushes {
                    let run = await context.tenant.engine.push(isExplicit: false)
                    let standing = try? await context.tenant.store.standing(
                        context.call.table, item.id, own: outcome.operation?.id)
                    guard let standing else { break }
                    if let response = verdict(standing, outcome, context) {
                        if once.claim() {
                            await withdraw(standing, response, outcome, context, reply)
                        }
                        break
                    }
                    guard standing.operation?.state == .queued, run.state != .offline else { break }
                }
                if once.claim() { reply(finished(outcome, context)) }
            }
        }
    }

    /// Answers with a verdict. A refused operation is withdrawn before its client is answered. If it does
    /// not contain the client's write, or consists of more than that write, it stays, and the answer is that
    /// of a local write.
    private func withdraw(
        _ standing: ItemStanding, _ response: Response, _ outcome: WriteOutcome,
        _ context: RequestContext,
        _ reply: Reply
    ) async {
        guard standing.own?.state != .discarded, let operation = standing.operation else {
            return reply(response)
        }
        var isRefused = outcome.operation?.id == operation.id
        if isRefused, outcome.operation?.isOwn == true {
            isRefused = (try? await context.tenant.store.withdraw(operation.id)) == true
        }
        guard isRefused else {
            let state: ItemState = operation.state == .conflict ? .conflict : .quarantined
            return reply(finished(outcome, context, state: state))
        }
        var response = response
        response.head.headerFields[.understudyState] = nil
        reply(response)
    }

    /// The answer for the backend's verdict on a write; nil while there is none.
    private func verdict(
        _ standing: ItemStanding, _ outcome: WriteOutcome, _ context: RequestContext
    ) -> Response? {
        if let own = standing.own, own.state == .discarded {
            return annotated(conflict(own.kind, standing, context), context)
        }
        guard let operation = standing.operation else {
            return finished(outcome.with(standing.item), context, state: .synced)
        }
        switch operation.state {
        case .conflict:
            return annotated(
                conflict(operation.kind, standing, context), context, state: .conflict)
        case .quarantined:
            let reason = operation.lastError ?? operation.reason ?? "The backend refuses it."
            let status = operation.lastStatus.flatMap { (400..<600).contains($0) ? $0 : nil }
            return annotated(
                context.error(.refusedByBackend(status: status ?? 400, reason)), context,
                state: .quarantined)
        case .queued, .sending, .waiting, .unknown, .done, .discarded, .collapsed: return nil
        }
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

/// A time limit for a client that waits for work. The work goes on without the client.
enum TimeOut {
    /// Runs `work` to its end. If that takes longer than `seconds`, calls `late` meanwhile.
    static func run(
        seconds: Int, late: @escaping @Sendable () -> Void, work: () async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                late()
            }
            await work()
            group.cancelAll()
        }
    }
}
