import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Reads that the store cannot answer alone: of tables that are not all here, or are copied in part, and with
/// query pairs of the client's own. docs/PROTOCOL.md has the table of answers.
struct BackendReads: Sendable {
    let longReads: LongReads
    let waiting: Waiting

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
        _ request: TableRequest, _ query: TableQuery,
        here: @escaping @Sendable (TableRequest) -> Response
    ) -> Answer {
        let status = request.status
        guard status.mayAsk else {
            request.want()
            return .now(here(request))
        }
        return waiting.later(request) { reply in
            let isOwn = await request.hasOpenChanges()
            if status.mayPullForRead, isOwn || query.isInOrderOfChange {
                let count = query.count ? await backendCount(request, query) : nil
                return listWhileFilling(request, query, count: count, reply)
            }
            if isOwn { return waiting.readLater(request) { reply(here($0)) } }
            let answer = await request.ask(query)
            if let passed = request.passed(answer) { return reply(passed) }
            switch answer {
            // This backend does not count. The store can count when the pull is over.
            case .page(let page)
            where query.count && page.count == nil && status.mayPullForRead:
                listWhileFilling(request, query, count: nil, reply)
            case .page(let page):
                request.pullBehind()
                reply(request.page(page))
            case .untranslatable where status.mayPullForRead:
                listWhileFilling(request, query, count: nil, reply)
            case .item, .withoutRow, .unreachable, .untranslatable, .refused, .other:
                request.want()
                waiting.readLater(request) { reply(here($0)) }
            }
        }
    }

    /// Answers a look-up of an item that is not here, in a table that is not all here.
    func itemOfPartialTable(_ request: TableRequest, _ id: ItemID) -> Answer {
        guard request.status.mayAsk else {
            request.want()
            return .now(request.offline())
        }
        return waiting.later(request) { reply in
            switch await request.ask(.item(id, includeDeleted: request.call.includeDeleted)) {
            case .item(let item):
                request.pullBehind()
                reply(request.item(item))
            case .refused(let response, let reason, let spoken):
                reply(request.passed(response, reason, spoken: spoken))
            case .withoutRow(let reason): reply(request.withoutRow(reason))
            case .unreachable(_, let wait):
                request.want()
                reply(request.offline(wait))
            case .page, .other, .untranslatable: reply(request.offline())
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
        _ request: TableRequest, _ query: TableQuery, count: Int?, _ reply: Reply
    ) {
        // The pull brings rows in the order of changes, so a list in that order only grows at its end.
        let isShownSoFar = query.isInOrderOfChange && (!query.count || count != nil)
        let once = OnceFlag()
        waiting.pull(request) { isOver, request in
            guard once.claim() else { return }
            guard isOver || isShownSoFar else { return reply(request.stillPulling) }
            longReads.listOffServer(request, query, reply) { outcome, request in
                if !isOver {
                    let page = pageSoFar(outcome, request, query, count: count, orShort: true)
                    return reply(page ?? request.stillPulling)
                }
                switch outcome {
                case .page, .beyondPart, .invalid, .overBudget, .failed:
                    reply(request.finished(outcome))
                // A client sees what it wrote here, even if the backend refuses the list.
                case .partial(let page) where !page.items.isEmpty || query.skip > 0:
                    reply(request.finished(outcome))
                case .partial, .unknownTable:
                    waiting.work.start {
                        reply(await backendAnswer(request, query) ?? request.stillPulling)
                    }
                }
            }
        }
        waiting.work.start {
            let isOwn = await request.hasOpenChanges()
            let pause = Duration.milliseconds(Limits.firstPullPollMilliseconds)
            while !once.isClaimed, (try? await Task.sleep(for: pause)) != nil {
                guard query.isInOrderOfChange else {
                    guard isOwn else { return }
                    if await request.hasOpenChanges() { continue }
                    let answer = await backendAnswer(request, query)
                    if let answer, once.claim() { reply(answer) }
                    return
                }
                guard isShownSoFar else { continue }
                waiting.readLater(request) { request in
                    // A page that exceeds the short budget waits for the end of the pull.
                    let outcome = request.list(query)
                    let page = pageSoFar(outcome, request, query, count: count, orShort: false)
                    if let page, once.claim() { reply(page) }
                }
            }
        }
    }

    /// The backend's answer to a list that the store cannot answer whole. Nil if the client cannot use it: the
    /// count that it asks for is missing, or it asks for rows in the order of changes, whose times have to be
    /// the store's.
    private func backendAnswer(_ request: TableRequest, _ query: TableQuery) async -> Response? {
        switch await request.ask(query) {
        case .unreachable(_, let wait): request.offline(wait)
        case .page(let page)
        where !query.isInOrderOfChange && (page.count != nil || !query.count):
            request.page(page)
        case let answer: request.passed(answer)
        }
    }

    /// The backend's count of the items of a query; nil if it gives none.
    private func backendCount(_ request: TableRequest, _ query: TableQuery) async -> Int? {
        var counting = query
        (counting.top, counting.skip) = (1, 0)
        guard case .page(let page) = await request.ask(counting) else { return nil }
        return page.count
    }

    /// The page of a list before the pull is over; nil if it is empty, or too short and `orShort` is false.
    ///
    /// The count is at least the number of shown items. The backend's count may be smaller, since it compares
    /// the store's times in the client's filter with its own.
    private func pageSoFar(
        _ outcome: ListOutcome, _ request: TableRequest, _ query: TableQuery, count: Int?,
        orShort: Bool
    ) -> Response? {
        guard case .partial(var page) = outcome else { return nil }
        let isFull = page.hasMore || page.items.count == query.top
        guard isFull || orShort && !page.items.isEmpty else { return nil }
        page.hasMore = page.hasMore || page.items.count < query.top ?? .max
        let shown = query.skip + page.items.count + (page.hasMore ? 1 : 0)
        page.count = query.count ? count.map { max($0, shown) } : nil
        return request.page(page)
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
        _ request: TableRequest, _ query: TableQuery, _ pairs: OwnPairs
    ) -> Answer {
        guard request.status.mayAsk else {
            return .later { listHere(request, query, as: \.asPart, $0) }
        }
        let isWhole = request.table.record?.isComplete == true
        // If reads start no pull, the copy begins with the next sync.
        let mayFollow = isWhole || request.status.mayPullForRead
        return waiting.later(request) { reply in
            let isOwn = await request.hasOpenChanges()
            if mayFollow, isOwn || query.isSyncQuery {
                return listFollowing(request, query, pairs, reply)
            }
            if isOwn { return listHere(request, query, as: \.asPart, reply) }
            let answer = await request.ask(query)
            if case .page(let page) = answer {
                if !isWhole { request.pullBehind() }
                return reply(request.page(page))
            }
            if let passed = request.passed(answer) { return reply(passed) }
            if !isWhole { request.want() }
            listHere(request, query, as: \.asPart, reply)
        }
    }

    /// Answers a list with query pairs of the client's own from the store, after the store has taken over the
    /// backend's list. If that takes too long, the answer is 503. If the backend refuses the pairs, the client
    /// gets the refusal.
    private func listFollowing(
        _ request: TableRequest, _ query: TableQuery, _ pairs: OwnPairs, _ reply: Reply
    ) {
        let once = OnceFlag()
        waiting.work.start {
            let (engine, table) = (request.tenant.engine, request.call.table)
            let isContinued = query.skip > 0 || query.after != nil
            if isContinued, await engine.hasFollowed(pairs, of: table) {
                return listHere(request, query, as: \.asWhole, reply)
            }
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.claim() { reply(request.stillPulling) }
            } work: {
                let hasFollowed = await engine.follow(pairs, of: table)
                await request.tenant.refreshBackendStatus()
                guard once.claim() else { return }
                if hasFollowed { return listHere(request, query, as: \.asWhole, reply) }
                if let passed = request.passed(await request.ask(query)) { return reply(passed) }
                listHere(request, query, as: \.asPart, reply)
            }
        }
    }

    /// Answers a list from the store, later.
    private func listHere(
        _ request: TableRequest, _ query: TableQuery, beyondPart: Bool = false,
        as form: @escaping @Sendable (ListOutcome) -> ListOutcome, _ reply: Reply
    ) {
        waiting.readLater(request) { request in
            longReads.listOffServer(request, query, beyondPart: beyondPart, reply) {
                reply($1.finished(form($0)))
            }
        }
    }

    /// Answers a read with query pairs of the client's own, which only the backend understands, as the backend
    /// does. The store answers where the backend is away, and where changes of the client's own wait, which the
    /// backend's answer lacks.
    func withCustomParameters(
        _ request: TableRequest, _ target: ForwardedRead.Target,
        here: @escaping @Sendable (TableRequest) -> Response
    ) -> Answer {
        waiting.later(request) { reply in
            if await request.hasOpenChanges() {
                return waiting.readLater(request) { reply(here($0)) }
            }
            let answer = await request.ask(target)
            if let passed = request.passed(answer) { return reply(passed) }
            switch answer {
            case .page(let page): reply(request.page(page))
            case .item(let item): reply(request.item(item))
            case .withoutRow(let reason): reply(request.withoutRow(reason))
            case .unreachable, .untranslatable, .refused, .other:
                waiting.readLater(request) { reply(here($0)) }
            }
        }
    }

    /// Answers a list that is not within the part of its table.
    ///
    /// 1. It is the backend's while it answers. Changes of the client's own that wait are sent first. Those that
    ///    still wait are in the rows of the answer, which says that it is incomplete, since an insert may be
    ///    missing.
    /// 2. A client that syncs goes on from the times that it got. With this list they are always the
    ///    backend's, because only there are all the rows; so without the backend the answer is 503, and
    ///    the rows are as the backend gives them.
    /// 3. For other lists without the backend: what is here, marked as incomplete; 503 where nothing is.
    func listBeyondPart(_ request: TableRequest, _ query: TableQuery) -> Answer {
        waiting.later(request) { reply in
            // A link of the store, from before the table was copied in part: its time is not the backend's.
            guard request.status.mayAsk, query.after == nil else {
                return listPart(request, query, nil, reply)
            }
            guard request.status.mayPullForRead, await request.hasOpenChanges() else {
                return await listThere(request, query, reply)
            }
            let once = OnceFlag()
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.claim() { waiting.work.start { await listThere(request, query, reply) } }
            } work: {
                _ = await request.tenant.engine.push(isExplicit: false)
                if once.claim() { await listThere(request, query, reply) }
            }
        }
    }

    private func listThere(
        _ request: TableRequest, _ query: TableQuery, _ reply: Reply
    ) async {
        let answer = await request.ask(query)
        if let passed = request.passed(answer) { return reply(passed) }
        switch answer {
        case .page(let page) where query.isSyncQuery: reply(request.page(page))
        case .page(var page):
            let waiting = try? await request.tenant.store.waitingChanges(
                of: page.items.map(\.id), in: request.call.table)
            page.items = page.items.compactMap { item in
                guard let mine = waiting?.items[item.id] else { return item }
                return mine.deleted && !query.includeDeleted ? nil : mine
            }
            var response = request.page(page)
            if waiting?.areSome == true { response.head.headerFields[own: .complete] = "no" }
            reply(response)
        case .unreachable(_, let wait): listPart(request, query, wait, reply)
        case .item, .withoutRow, .untranslatable, .refused, .other:
            listPart(request, query, nil, reply)
        }
    }

    private func listPart(
        _ request: TableRequest, _ query: TableQuery, _ wait: Duration?, _ reply: Reply
    ) {
        if query.isSyncQuery || query.after != nil { return reply(request.offline(wait)) }
        listHere(request, query, beyondPart: true, as: \.asPart, reply)
    }
}
