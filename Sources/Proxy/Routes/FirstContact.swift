import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Requests for tables that are not copied yet. docs/PROTOCOL.md has the table of answers.
extension TablesRoutes {
    /// Answers a list of a table that is not all here.
    ///
    /// 1. If the backend cannot be reached, the answer has the rows that are here, marked as incomplete. If there
    ///    are none, it is 503.
    /// 2. If changes of the client's own wait to be sent, the backend's answer would lack them, so the list waits
    ///    for the pull.
    /// 3. A list in the order of changes comes from a client that syncs. The store answers it while the pull
    ///    fills the store, so that the client goes on from the store's times. A count comes from the backend,
    ///    because the store has only a part of the rows.
    /// 4. The backend answers any other list, and the pull runs in the background.
    func listPartialTable(
        _ context: RequestContext, _ query: TableQuery,
        here: @escaping @Sendable (RequestContext) -> Response
    ) -> Answer {
        let backendStatus = context.tenant.backendStatus
        guard backendStatus.mayAsk else {
            context.tenant.store.want(context.call.table)
            return .now(here(context))
        }
        return later(context) { context, reply in
            let isOwn = await hasOpenChanges(context)
            if backendStatus.mayPullForRead, isOwn || query.isInOrderOfChange {
                let count = query.count ? await backendCount(context, query) : nil
                return listWhileFilling(context, query, count: count, reply)
            }
            if isOwn { return readLater(context) { reply(here($0)) } }
            switch await askBackend(context, .list(query, rows: rowLimit(query))) {
            // This backend does not count. The store can count when the pull is over.
            case .page(let page)
            where query.count && page.count == nil && backendStatus.mayPullForRead:
                listWhileFilling(context, query, count: nil, reply)
            case .page(let page):
                pullBehind(context)
                reply(annotated(context.answer.render(page: page), context))
            case .refused(let response, let reason, let spoken):
                reply(passed(response, reason, spoken: spoken, context))
            case .other(let response): reply(passed(response, context))
            case .untranslatable where backendStatus.mayPullForRead:
                listWhileFilling(context, query, count: nil, reply)
            case .item, .withoutRow, .unreachable, .untranslatable:
                context.tenant.store.want(context.call.table)
                readLater(context) { reply(here($0)) }
            }
        }
    }

    /// Answers a look-up of an item that is not here, in a table that is not all here.
    func itemOfPartialTable(_ context: RequestContext, _ id: ItemID) -> Answer {
        guard context.tenant.backendStatus.mayAsk else {
            context.tenant.store.want(context.call.table)
            return .now(offlineAnswer(context, nil))
        }
        return later(context) { context, reply in
            let target = ForwardedRead.Target.item(id, includeDeleted: context.call.includeDeleted)
            switch await askBackend(context, target) {
            case .item(let item):
                pullBehind(context)
                reply(annotated(context.answer.render(item: item), context))
            case .refused(let response, let reason, let spoken):
                reply(passed(response, reason, spoken: spoken, context))
            case .withoutRow(let reason): reply(withoutRow(context, reason))
            case .unreachable(_, let wait):
                context.tenant.store.want(context.call.table)
                reply(offlineAnswer(context, wait))
            case .page, .other, .untranslatable: reply(offlineAnswer(context, nil))
            }
        }
    }

    /// Answers a list from the store when the pull is over, or sooner:
    ///
    /// 1. A full page in the order of changes is answered at once, since rows that come later have later times.
    /// 2. When the wait is over, a page in that order is answered if it has any row, and says that more follow.
    ///    Any other list is 503. The pull goes on.
    /// 3. A list in another order waits for the client's own changes. Once they are sent, the backend answers it.
    /// - Parameter count: the backend's count. A list that asks for a count and has none waits for the end of the
    ///   pull.
    private func listWhileFilling(
        _ context: RequestContext, _ query: TableQuery, count: Int?, _ reply: Reply
    ) {
        let once = OnceFlag()
        pull(context) { isOver, context in
            guard once.claim() else { return }
            guard isOver || isShownSoFar(query, count: count) else {
                return reply(stillPulling(context))
            }
            listOffServer(context, query, reply) { outcome, context in
                if !isOver {
                    let page = pageSoFar(outcome, context, query, count: count, orShort: true)
                    return reply(page ?? stillPulling(context))
                }
                switch outcome {
                case .page, .beyondPart, .invalid, .overBudget, .failed:
                    reply(finished(outcome, context))
                // A client sees what it wrote here, even if the backend refuses the list.
                case .partial(let page) where !page.items.isEmpty || query.skip > 0:
                    reply(finished(outcome, context))
                case .partial, .unknownTable:
                    work.start {
                        reply(await backendAnswer(context, query) ?? stillPulling(context))
                    }
                }
            }
        }
        work.start {
            let isOwn = await hasOpenChanges(context)
            let pause = Duration.milliseconds(Limits.firstPullPollMilliseconds)
            while !once.isClaimed, (try? await Task.sleep(for: pause)) != nil {
                guard query.isInOrderOfChange else {
                    guard isOwn else { return }
                    if await hasOpenChanges(context) { continue }
                    let answer = await backendAnswer(context, query)
                    if let answer, once.claim() { reply(answer) }
                    return
                }
                guard isShownSoFar(query, count: count) else { continue }
                readLater(context) { context in
                    // A page that exceeds the short budget waits for the end of the pull.
                    let outcome = listed(context, query)
                    let page = pageSoFar(outcome, context, query, count: count, orShort: false)
                    if let page, once.claim() { reply(page) }
                }
            }
        }
    }

    /// The backend's answer to a list that the store cannot answer whole. Nil if the client cannot use it: the
    /// count that it asks for is missing, or it asks for rows in the order of changes, whose times have to be
    /// the store's.
    private func backendAnswer(_ context: RequestContext, _ query: TableQuery) async -> Response? {
        switch await askBackend(context, .list(query, rows: rowLimit(query))) {
        case .refused(let response, let reason, let spoken):
            passed(response, reason, spoken: spoken, context)
        case .other(let response): passed(response, context)
        case .unreachable(_, let wait): offlineAnswer(context, wait)
        case .page(let page)
        where !query.isInOrderOfChange && (page.count != nil || !query.count):
            annotated(context.answer.render(page: page), context)
        case .page, .item, .withoutRow, .untranslatable: nil
        }
    }

    /// The backend's count of the items of a query; nil if it gives none.
    private func backendCount(_ context: RequestContext, _ query: TableQuery) async -> Int? {
        var counting = query
        (counting.top, counting.skip) = (1, 0)
        guard case .page(let page) = await askBackend(context, .list(counting, rows: 1)) else {
            return nil
        }
        return page.count
    }

    /// Whether a list can be shown before the pull is over. The pull brings rows in the order of changes, so a
    /// list in that order only grows at its end.
    private func isShownSoFar(_ query: TableQuery, count: Int?) -> Bool {
        query.isInOrderOfChange && (!query.count || count != nil)
    }

    /// The page of a list before the pull is over; nil if it is empty, or too short and `orShort` is false.
    ///
    /// The count is at least the number of shown items. The backend's count may be smaller, since it compares
    /// the store's times in the client's filter with its own.
    private func pageSoFar(
        _ outcome: ListOutcome, _ context: RequestContext, _ query: TableQuery, count: Int?,
        orShort: Bool
    ) -> Response? {
        guard case .partial(var page) = outcome else { return nil }
        let isFull = page.hasMore || page.items.count == query.top
        guard isFull || orShort && !page.items.isEmpty else { return nil }
        page.hasMore = page.hasMore || page.items.count < query.top ?? .max
        let shown = query.skip + page.items.count + (page.hasMore ? 1 : 0)
        page.count = query.count ? count.map { max($0, shown) } : nil
        return annotated(context.answer.render(page: page), context)
    }

    /// Answers a list with query pairs of the client's own: the backend's rows while it can be reached.
    ///
    /// 1. If the backend cannot be reached, the answer has the rows here that a list with these pairs once had,
    ///    marked as incomplete.
    /// 2. A list of a client that syncs, or whose own changes wait, is answered from the store: the times have to
    ///    be the store's, and the changes are in the store alone. The store first takes over the backend's list
    ///    with these pairs. Further pages need no request.
    /// 3. The backend answers any other list.
    func listWithOwnPairs(
        _ context: RequestContext, _ query: TableQuery, _ pairs: OwnPairs
    ) -> Answer {
        let backendStatus = context.tenant.backendStatus
        let here: @Sendable (RequestContext, Reply) -> Void = { context, reply in
            listOffServer(context, query, reply) { reply(finished($0.asPart, $1)) }
        }
        guard backendStatus.mayAsk else {
            return .later { reply in readLater(context) { here($0, reply) } }
        }
        let isWhole = context.table.settings?.isComplete == true
        // If reads start no pull, the copy begins with the next sync.
        let mayFollow = isWhole || backendStatus.mayPullForRead
        return later(context) { context, reply in
            let isOwn = await hasOpenChanges(context)
            if mayFollow, isOwn || query.isSyncQuery {
                return listFollowing(context, query, pairs, reply, here)
            }
            if isOwn { return readLater(context) { here($0, reply) } }
            switch await askBackend(context, .list(query, rows: rowLimit(query))) {
            case .page(let page):
                if !isWhole { pullBehind(context) }
                reply(annotated(context.answer.render(page: page), context))
            case .refused(let response, let reason, let spoken):
                reply(passed(response, reason, spoken: spoken, context))
            case .other(let response): reply(passed(response, context))
            case .item, .withoutRow, .unreachable, .untranslatable:
                if !isWhole { context.tenant.store.want(context.call.table) }
                readLater(context) { here($0, reply) }
            }
        }
    }

    /// Answers a list with query pairs of the client's own from the store, after the store has taken over the
    /// backend's list. If that takes too long, the answer is 503. If the backend refuses the pairs, the client
    /// gets the refusal.
    private func listFollowing(
        _ context: RequestContext, _ query: TableQuery, _ pairs: OwnPairs, _ reply: Reply,
        _ here: @escaping @Sendable (RequestContext, Reply) -> Void
    ) {
        let whole: @Sendable () -> Void = {
            readLater(context) { context in
                listOffServer(context, query, reply) { reply(finished($0.asWhole, $1)) }
            }
        }
        let once = OnceFlag()
        work.start {
            let engine = context.tenant.engine
            let isContinued = query.skip > 0 || query.after != nil
            if isContinued, await engine.hasFollowed(pairs, of: context.call.table) {
                return whole()
            }
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.claim() { reply(stillPulling(context)) }
            } work: {
                let hasFollowed = await engine.follow(pairs, of: context.call.table)
                await context.tenant.refreshBackendStatus()
                guard once.claim() else { return }
                if hasFollowed { return whole() }
                switch await askBackend(context, .list(query, rows: rowLimit(query))) {
                case .refused(let response, let reason, let spoken):
                    reply(passed(response, reason, spoken: spoken, context))
                case .other(let response): reply(passed(response, context))
                case .page, .item, .withoutRow, .unreachable, .untranslatable:
                    readLater(context) { here($0, reply) }
                }
            }
        }
    }

    /// Whether a read has query pairs of the client's own, which only the backend understands, and the
    /// backend can be asked.
    func hasCustomParameters(_ context: RequestContext) -> Bool {
        !context.call.parameters.isEmpty && context.tenant.backendStatus.mayAsk
    }

    /// Answers a read with query pairs of the client's own as the backend does. The store answers where
    /// the backend is away, and where changes of the client's own wait, which the backend's answer lacks.
    func readWithCustomParameters(
        _ context: RequestContext, _ target: ForwardedRead.Target,
        here: @escaping @Sendable (RequestContext) -> Response
    ) -> Answer {
        later(context) { context, reply in
            if await hasOpenChanges(context) {
                return readLater(context) { reply(here($0)) }
            }
            switch await askBackend(context, target) {
            case .page(let page): reply(annotated(context.answer.render(page: page), context))
            case .item(let item): reply(annotated(context.answer.render(item: item), context))
            case .refused(let response, let reason, let spoken):
                reply(passed(response, reason, spoken: spoken, context))
            case .other(let response): reply(passed(response, context))
            case .withoutRow(let reason): reply(withoutRow(context, reason))
            case .unreachable, .untranslatable: readLater(context) { reply(here($0)) }
            }
        }
    }

    /// Sends the client's read to the backend.
    func askBackend(_ context: RequestContext, _ target: ForwardedRead.Target) async
        -> ForwardedAnswer
    {
        var target = target
        if case .item(let id, let includeDeleted) = target {
            target = .item(await presentID(context, id), includeDeleted: includeDeleted)
        }
        let answer = await context.tenant.engine.forward(
            ForwardedRead(
                table: context.call.table, target: target,
                parameters: context.call.parameters.map(\.raw), pairs: context.pairs,
                headers: context.headers, trace: context.trace, generation: context.call.generation)
        )
        // The client's answer shows whether the backend was reached just now.
        await context.tenant.refreshBackendStatus()
        return answer
    }

    /// The id by which the backend knows an item: the client may know an earlier one.
    func presentID(_ context: RequestContext, _ id: ItemID) async -> ItemID {
        (try? await context.tenant.store.presentID(of: id, in: context.call.table)) ?? id
    }

    /// The limit of rows that a list asks the backend for; nil if the client names no number.
    func rowLimit(_ query: TableQuery) -> Int? { query.top.map { min($0, Limits.pageRowsMax) } }

    /// The backend's refusal. A client of the backend's generation gets it unchanged, any other in its own form.
    func passed(
        _ response: Response, _ reason: String, spoken: Generation?, _ context: RequestContext
    ) -> Response {
        guard spoken == context.call.generation else {
            return annotated(
                context.error(.refusedByBackend(status: response.head.status.code, reason)), context
            )
        }
        return passed(response, context)
    }

    /// The backend's answer without rows, unchanged. If it is a page, it is sandboxed, so that it has no rights
    /// of this origin.
    func passed(_ response: Response, _ context: RequestContext) -> Response {
        var fields: HTTPFields = [
            .contentSecurityPolicy: "sandbox", .xContentTypeOptions: "nosniff",
            .cacheControl: "no-store",
        ]
        for name in Self.passedFields { fields[name] = response.head.headerFields[name] }
        return annotated(
            Response(
                status: response.head.status, headerFields: fields, body: response.bytes ?? []),
            context)
    }

    private static let passedFields: [HTTPField.Name] = [
        .contentType, .wwwAuthenticate, .retryAfter, .allow,
    ]

    /// 503 with the time after which the client may come again.
    func offlineAnswer(_ context: RequestContext, _ wait: Duration?) -> Response {
        let seconds = wait.map { max(1, Int($0.components.seconds)) }
        return annotated(
            context.error(.offline(retryAfterSeconds: seconds ?? Limits.retryAfterSeconds)), context
        )
    }

    /// 503 for a success of the backend that has no item.
    func withoutRow(_ context: RequestContext, _ reason: String) -> Response {
        annotated(
            context.error(.unavailable(reason, retryAfterSeconds: Limits.retryAfterSeconds)),
            context)
    }

    /// Starts the pull of a table if reads start pulls. A sync on request pulls the table in any case, also if
    /// that sync begins before the engine was nudged.
    private func pullBehind(_ context: RequestContext) {
        // The pull of a part does not bring rows outside of the part.
        if context.table.settings?.isInPart == true { return }
        context.tenant.store.want(context.call.table)
        if context.tenant.backendStatus.mayPullForRead {
            context.tenant.engine.nudge(.read(context.call.table))
        }
    }

    func hasOpenChanges(_ context: RequestContext) async -> Bool {
        (try? await context.tenant.store.hasOpenChanges(in: context.call.table)) ?? false
    }

    /// Answers later, in a task, if the limit of clients that wait for the backend is not reached.
    func later(
        _ context: RequestContext,
        _ respond: @escaping @Sendable (RequestContext, Reply) async -> Void
    ) -> Answer {
        .later { reply in
            guard passThrough.permits.take() else { return reply(overloaded(context.call)) }
            work.start {
                await passThrough.permits.run(for: reply) { _ in await respond(context, reply) }
            }
        }
    }
}
