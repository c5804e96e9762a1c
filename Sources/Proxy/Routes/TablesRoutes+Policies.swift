import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// What the policies of a table add to an answer from the store.
extension TablesRoutes {
    /// Answers a read as the table's policy says.
    ///
    /// - `local`: from the store.
    /// - `revalidate`: from the store; what the backend has comes behind.
    /// - `remote-first`: what the backend has comes first, then the answer from the store, where the
    ///   client's own changes are as well; the store alone when the backend is away or too slow.
    func read(
        _ context: RequestContext, _ local: @escaping @Sendable (RequestContext) -> Answer
    ) -> Answer {
        let table = context.tenant.store.table(context.call.table, worker: context.worker)
        guard let table, table.readPolicy != .local, context.tenant.backendStatus.mayPullForRead
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
            // A table that is not whole yet is pulled before its answer anyway.
            guard table.isComplete else { return local(context) }
            return .later { reply in
                let context = context.moved(to: blockingExecutor.worker)
                pull(context) { _ in local(context).send(reply) }
            }
        }
    }

    /// Pulls the request's table; then, or when that takes too long, goes on in the blocking executor.
    /// The pull goes on by itself.
    func pull(_ context: RequestContext, then: @escaping @Sendable (Run?) -> Void) {
        let once = Once()
        work.start {
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.isFirst { blockingExecutor.run { then(nil) } }
            } work: {
                let run = await context.tenant.engine.pull(
                    context.call.table, isAsked: false)
                // The client's answer says what was learned of the backend.
                await context.tenant.refreshBackendStatus()
                if once.isFirst { blockingExecutor.run { then(run) } }
            }
        }
    }

    /// Whether a write waits for the backend's verdict.
    func writesThrough(_ context: RequestContext) -> Bool {
        let table = context.tenant.store.table(context.call.table, worker: context.worker)
        return table?.writePolicy == .writeThrough && context.tenant.backendStatus.mayAsk
    }

    /// Answers a write that is on disk with what the backend says to it.
    ///
    /// 1. The queue is pushed; a push under way may have begun before the write, so up to three times.
    /// 2. Nothing of the item is open any more: the backend has it; the answer shows its row.
    /// 3. It is a conflict, or the backend refuses it, and the operation is this write alone: it is given
    ///    up (see ``Store/withdraw(_:)``), and the client is told what the backend said.
    /// 4. Anything else, or no verdict in time: the write is kept and may still be sent, so the answer is
    ///    that of a local write, with the item's state.
    func writeThrough(
        _ context: RequestContext, _ outcome: WriteOutcome, _ item: Item, _ reply: Reply
    ) {
        // The first of them answers: what was acknowledged is not given up any more.
        let once = Once()
        work.start {
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.isFirst { reply(finished(outcome, context)) }
            } work: {
                for _ in 0..<3 {
                    let run = await context.tenant.engine.push(isAsked: false)
                    let standing = try? await context.tenant.store.standing(
                        context.call.table, item.id)
                    guard let standing else { break }
                    if let response = verdict(standing, outcome, context) {
                        if once.isFirst {
                            await withdraw(standing, response, outcome, context, reply)
                        }
                        break
                    }
                    guard standing.operation?.state == .queued, run.state != .offline else { break }
                }
                if once.isFirst { reply(finished(outcome, context)) }
            }
        }
    }

    /// Answers with a verdict. What the backend refuses is given up before the client is told so; where
    /// it is more than the client's write, all of it is kept, and the client's write is pending.
    private func withdraw(
        _ standing: ItemStanding, _ response: Response, _ outcome: WriteOutcome,
        _ context: RequestContext,
        _ reply: Reply
    ) async {
        guard let operation = standing.operation else { return reply(response) }
        guard (try? await context.tenant.store.withdraw(operation.id)) == true else {
            let state: ItemState = operation.state == .conflict ? .conflict : .quarantined
            return reply(annotated(finished(outcome, context), context, state: state))
        }
        var response = response
        response.head.headerFields[.understudyState] = nil
        reply(response)
    }

    /// The answer to a write that the backend has judged; nil while it has not.
    private func verdict(
        _ standing: ItemStanding, _ outcome: WriteOutcome, _ context: RequestContext
    ) -> Response? {
        guard let operation = standing.operation else {
            return annotated(
                finished(outcome.with(standing.item), context), context, state: .synced)
        }
        switch operation.state {
        case .conflict:
            let error: TablesError =
                if operation.kind == .insert { .conflict(standing.server) } else {
                    standing.server.map { .preconditionFailed($0) }
                        ?? context.target.map { .notFound($0) } ?? .conflict(nil)
                }
            return annotated(context.error(error), context, state: .conflict)
        case .quarantined:
            let reason = operation.lastError ?? operation.reason ?? "The backend refuses it."
            let status = operation.lastStatus.flatMap { (400..<600).contains($0) ? $0 : nil }
            return annotated(
                context.error(.refusedByBackend(status: status ?? 400, reason)), context,
                state: .quarantined)
        case .queued, .sending, .waiting, .unknown, .done, .discarded, .collapsed: return nil
        }
    }
}

extension WriteOutcome {
    /// The item that a successful write left; nil for others.
    var item: Item? {
        switch self {
        case .inserted(let item), .updated(let item), .deleted(let item), .undeleted(let item):
            item
        case .missing, .gone, .preconditionFailed, .alreadyExists,
            .unknownWhilePartial, .tableNotAllowed, .invalid, .storageFull, .readOnly, .busy,
            .failed:
            nil
        }
    }

    /// The same success with another item.
    fileprivate func with(_ item: Item) -> WriteOutcome {
        switch self {
        case .inserted: .inserted(item)
        case .updated: .updated(item)
        case .deleted: .deleted(item)
        case .undeleted: .undeleted(item)
        case .missing, .gone, .preconditionFailed, .alreadyExists,
            .unknownWhilePartial, .tableNotAllowed, .invalid, .storageFull, .readOnly, .busy,
            .failed:
            self
        }
    }
}
