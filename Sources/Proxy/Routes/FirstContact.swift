import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Requests for tables that are not copied yet. docs/PROTOCOL.md has the table of answers.
extension TablesRoutes {
    /// Answers a list of a table that is not all here.
    ///
    /// 1. With the backend out of reach: what is here, marked as incomplete; 503 where nothing is.
    /// 2. Changes of the client's own are missing in the backend's answer: such a list waits for the pull.
    /// 3. A list in the order of changes is one of a client that syncs. It is answered from the store
    ///    while the pull fills it, so that the client goes on from the store's times. A count is the
    ///    backend's: the store has only a part of the rows.
    /// 4. Any other is what the backend answers, while the pull runs behind.
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
            // A backend that does not count: the store can, when the pull is over.
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

    /// Lists when the pull is over, or sooner:
    ///
    /// 1. In the order of changes a page that is full is right before the pull is over, since rows that
    ///    come later have later times.
    /// 2. After some seconds a page of that order that is not empty is answered as it is, and says that
    ///    more follow; any other client is told to come again. The pull goes on.
    /// 3. Any other list that waits for changes of the client's own is the backend's as soon as they are
    ///    there.
    /// - Parameter count: how many items the backend counts; a list that asks for a count has none to
    ///   show without it before the pull is over.
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
                // What the client wrote here is shown, whatever the backend says.
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
                    // A page that needs more than the short budget waits for the end of the pull.
                    let outcome = listed(context, query)
                    let page = pageSoFar(outcome, context, query, count: count, orShort: false)
                    if let page, once.claim() { reply(page) }
                }
            }
        }
    }

    /// What the backend says, where the store has no whole answer; nil where that is none to the client:
    /// a list without the count that it asks for, and rows in the order of changes, whose times are always
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

    /// How many items of a query the backend counts; nil where it does not say.
    private func backendCount(_ context: RequestContext, _ query: TableQuery) async -> Int? {
        var counting = query
        (counting.top, counting.skip) = (1, 0)
        guard case .page(let page) = await askBackend(context, .list(counting, rows: 1)) else {
            return nil
        }
        return page.count
    }

    /// Whether a list of a table that is being filled can be shown before the pull is over: it is in the
    /// order in which the table is filled, so that more rows can only follow.
    private func isShownSoFar(_ query: TableQuery, count: Int?) -> Bool {
        query.isInOrderOfChange && (!query.count || count != nil)
    }

    /// Such a list; nil where its page is not full, or empty. It never counts fewer items than it shows: the
    /// backend compares a client's times, which are the store's, with its own.
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
    /// 1. With the backend out of reach: the rows here that a list with these pairs had, as a part.
    /// 2. The times that a client syncs by are always the store's, and changes of the client's own are in the
    ///    store alone. So such a list is answered from the store, after it has followed the backend's list.
    ///    A further page of it needs no request.
    /// 3. Any other list is what the backend answers.
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
        // Without a pull on reads the copy begins with the next sync.
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

    /// Answers a list with query pairs of the client's own from the store, after it has followed the backend's
    /// list. If that takes too long, the client is told to come again. If the backend refuses the pairs, it
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

    /// Asks the backend in the client's stead.
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
        // The client's answer says what was learned of the backend.
        await context.tenant.refreshBackendStatus()
        return answer
    }

    /// The id by which the backend knows an item: the client may know an earlier one.
    func presentID(_ context: RequestContext, _ id: ItemID) async -> ItemID {
        (try? await context.tenant.store.presentID(of: id, in: context.call.table)) ?? id
    }

    /// The most rows that a client's list asks the backend for; nil where the client names no number.
    func rowLimit(_ query: TableQuery) -> Int? { query.top.map { min($0, Limits.pageRowsMax) } }

    /// The backend's refusal: as it came to a client of its generation, in the client's own form to others.
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

    /// The backend's own answer where it gave no rows, as it came. A page of the backend gets no rights of
    /// this origin.
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

    /// 503 where the backend's success is no answer of a table to a read by id.
    func withoutRow(_ context: RequestContext, _ reason: String) -> Response {
        annotated(
            context.error(.unavailable(reason, retryAfterSeconds: Limits.retryAfterSeconds)),
            context)
    }

    /// Lets the pull of a table begin where reads start one. A sync that is asked for pulls it in any
    /// case, also one that begins before the engine was nudged.
    private func pullBehind(_ context: RequestContext) {
        // A pull of a table in part does not bring what is beyond the part.
        if context.table.settings?.isInPart == true { return }
        context.tenant.store.want(context.call.table)
        if context.tenant.backendStatus.mayPullForRead {
            context.tenant.engine.nudge(.read(context.call.table))
        }
    }

    func hasOpenChanges(_ context: RequestContext) async -> Bool {
        (try? await context.tenant.store.hasOpenChanges(in: context.call.table)) ?? false
    }

    /// Answers later, in a task, if there is a place for a client that waits for the backend.
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
