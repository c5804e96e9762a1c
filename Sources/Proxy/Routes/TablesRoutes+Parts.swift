import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Lists beyond the part of a table that is copied in part. The store cannot answer them.
extension TablesRoutes {
    /// Answers a list that is not within the part of its table.
    ///
    /// 1. It is the backend's while it answers. Changes of the client's own that wait are sent first. Those that
    ///    still wait are in the rows of the answer, which says that it is incomplete, since an insert may be
    ///    missing.
    /// 2. A client that syncs goes on from the times that it got. With this list they are always the
    ///    backend's, because only there are all the rows; so without the backend the answer is 503, and
    ///    the rows are as the backend gives them.
    /// 3. For other lists without the backend: what is here, marked as incomplete; 503 where nothing is.
    func listBeyondPart(_ context: RequestContext, _ query: TableQuery) -> Answer {
        let backendStatus = context.tenant.backendStatus
        return later(context) { context, reply in
            // A link of the store, from before the table was copied in part: its time is not the backend's.
            guard backendStatus.mayAsk, query.after == nil else {
                return await listHere(context, query, nil, reply)
            }
            guard backendStatus.mayPullForRead, await hasOpenChanges(context) else {
                return await listThere(context, query, reply)
            }
            let once = OnceFlag()
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.claim() { work.start { await listThere(context, query, reply) } }
            } work: {
                _ = await context.tenant.engine.push(isExplicit: false)
                if once.claim() { await listThere(context, query, reply) }
            }
        }
    }

    private func listThere(
        _ context: RequestContext, _ query: TableQuery, _ reply: Reply
    ) async {
        switch await askBackend(context, .list(query, rows: rowLimit(query))) {
        case .page(let page) where query.isSyncQuery:
            reply(annotated(context.answer.render(page: page), context))
        case .page(var page):
            let waiting = try? await context.tenant.store.waitingChanges(
                of: page.items.map(\.id), in: context.call.table)
            page.items = page.items.compactMap { item in
                guard let mine = waiting?.items[item.id] else { return item }
                return mine.deleted && !query.includeDeleted ? nil : mine
            }
            var response = annotated(context.answer.render(page: page), context)
            if waiting?.areSome == true { response.head.headerFields[.understudyComplete] = "no" }
            reply(response)
        case .refused(let response, let reason, let spoken):
            reply(passed(response, reason, spoken: spoken, context))
        case .other(let response): reply(passed(response, context))
        case .unreachable(_, let wait): await listHere(context, query, wait, reply)
        case .item, .untranslatable: await listHere(context, query, nil, reply)
        }
    }

    /// What is here of such a list.
    private func listHere(
        _ context: RequestContext, _ query: TableQuery, _ wait: Duration?, _ reply: Reply
    ) async {
        if query.isSyncQuery || query.after != nil { return reply(offlineAnswer(context, wait)) }
        blockingExecutor.run {
            listOffServer(context, query, beyondPart: true, reply) { outcome, context in
                reply(finished(outcome.asPart, context))
            }
        }
    }
}
