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
    func listOfIncomplete(
        _ scene: Scene, _ query: TableQuery, here: @escaping @Sendable (Scene) -> Response
    ) -> Answer {
        let board = scene.home.board
        guard board.mayAsk else {
            scene.home.store.want(scene.call.table)
            return .now(here(scene))
        }
        return later(scene) { scene, reply in
            let isOwn = await hasOpenChanges(scene)
            if board.mayPullForRead, isOwn || query.isInOrderOfChange {
                let count = query.count ? await backendCount(scene, query) : nil
                return listWhileFilling(scene, query, count: count, reply)
            }
            if isOwn { return slowLane.run { reply(here(scene)) } }
            switch await askBackend(scene, .list(query, rows: most(query))) {
            // A backend that does not count: the store can, when the pull is over.
            case .page(let page)
            where query.count && page.count == nil && board.mayPullForRead:
                listWhileFilling(scene, query, count: nil, reply)
            case .page(let page):
                pullBehind(scene)
                reply(signed(scene.answer.render(page: page), scene))
            case .refused(let response, let reason, let spoken):
                reply(passed(response, reason, spoken: spoken, scene))
            case .untranslatable where board.mayPullForRead:
                listWhileFilling(scene, query, count: nil, reply)
            case .item, .unreachable, .untranslatable:
                scene.home.store.want(scene.call.table)
                slowLane.run { reply(here(scene)) }
            }
        }
    }

    /// Answers a look-up of an item that is not here, in a table that is not all here.
    func itemOfIncomplete(_ scene: Scene, _ id: ItemID) -> Answer {
        guard scene.home.board.mayAsk else {
            scene.home.store.want(scene.call.table)
            return .now(away(scene, nil))
        }
        return later(scene) { scene, reply in
            let target = ForwardedRead.Target.item(id, includeDeleted: scene.call.includeDeleted)
            switch await askBackend(scene, target) {
            case .item(let item):
                pullBehind(scene)
                reply(signed(scene.answer.render(item: item), scene))
            case .refused(let response, let reason, let spoken):
                reply(passed(response, reason, spoken: spoken, scene))
            case .unreachable(_, let wait):
                scene.home.store.want(scene.call.table)
                reply(away(scene, wait))
            case .page, .untranslatable: reply(away(scene, nil))
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
        _ scene: Scene, _ query: TableQuery, count: Int?, _ reply: Reply
    ) {
        let once = Once()
        pull(scene) { run in
            guard once.isFirst else { return }
            guard run != nil || isShownSoFar(query, count: count) else {
                return reply(stillPulling(scene))
            }
            listOffServer(scene, query, reply) { outcome, scene in
                if run == nil {
                    let page = pageSoFar(outcome, scene, query, count: count, orShort: true)
                    return reply(page ?? stillPulling(scene))
                }
                switch outcome {
                case .page, .invalid, .overBudget, .failed:
                    reply(finished(outcome, scene, scene.answer.render(page:)))
                // What the client wrote here is shown, whatever the backend says.
                case .partial(let page) where !page.items.isEmpty || query.skip > 0:
                    reply(finished(outcome, scene, scene.answer.render(page:)))
                case .partial, .unknownTable:
                    work.start {
                        let scene = scene.moved(to: slowLane.worker)
                        reply(await backendAnswer(scene, query) ?? stillPulling(scene))
                    }
                }
            }
        }
        work.start {
            let isOwn = await hasOpenChanges(scene)
            let pause = Duration.milliseconds(Limits.fillingPauseMilliseconds)
            while !once.isSpent, (try? await Task.sleep(for: pause)) != nil {
                guard query.isInOrderOfChange else {
                    guard isOwn else { return }
                    if await hasOpenChanges(scene) { continue }
                    let answer = await backendAnswer(scene, query)
                    if let answer, once.isFirst { reply(answer) }
                    return
                }
                guard isShownSoFar(query, count: count) else { continue }
                slowLane.run {
                    // A page that needs more than the short budget waits for the end of the pull.
                    let outcome = scene.home.store.list(
                        scene.call.table, query, generation: scene.call.generation,
                        worker: scene.worker)
                    let page = pageSoFar(outcome, scene, query, count: count, orShort: false)
                    if let page, once.isFirst { reply(page) }
                }
            }
        }
    }

    /// What the backend says, where the store has no whole answer; nil where that is none to the client:
    /// a list without the count that it asks for, and rows in the order of changes, whose times are always
    /// the store's.
    private func backendAnswer(_ scene: Scene, _ query: TableQuery) async -> Response? {
        switch await askBackend(scene, .list(query, rows: most(query))) {
        case .refused(let response, let reason, let spoken):
            passed(response, reason, spoken: spoken, scene)
        case .unreachable(_, let wait): away(scene, wait)
        case .page(let page)
        where !query.isInOrderOfChange && (page.count != nil || !query.count):
            signed(scene.answer.render(page: page), scene)
        case .page, .item, .untranslatable: nil
        }
    }

    /// How many items of a query the backend counts; nil where it does not say.
    private func backendCount(_ scene: Scene, _ query: TableQuery) async -> Int? {
        var counting = query
        (counting.top, counting.skip) = (1, 0)
        guard case .page(let page) = await askBackend(scene, .list(counting, rows: 1)) else {
            return nil
        }
        return page.count
    }

    /// Whether a list of a table that is being filled can be shown before the pull is over: it is in the
    /// order in which the table is filled, so that more rows can only follow.
    private func isShownSoFar(_ query: TableQuery, count: Int?) -> Bool {
        query.isInOrderOfChange && (!query.count || count != nil)
    }

    /// Such a list; nil where its page is not full, or empty.
    private func pageSoFar(
        _ outcome: ListOutcome, _ scene: Scene, _ query: TableQuery, count: Int?, orShort: Bool
    ) -> Response? {
        guard case .partial(var page) = outcome else { return nil }
        let isFull = page.hasMore || page.items.count == query.top
        guard isFull || orShort && !page.items.isEmpty else { return nil }
        page.count = query.count ? count : nil
        page.hasMore = page.hasMore || page.items.count < query.top ?? .max
        return signed(scene.answer.render(page: page), scene)
    }

    /// Whether a read has query pairs of the client's own, which only the backend understands, and the
    /// backend can be asked.
    func hasOwnPairs(_ scene: Scene) -> Bool {
        !scene.call.parameters.isEmpty && scene.home.board.mayAsk
    }

    /// Answers a read with query pairs of the client's own as the backend does. The store answers where
    /// the backend is away, and where changes of the client's own wait, which the backend's answer lacks.
    func readWithOwnPairs(
        _ scene: Scene, _ target: ForwardedRead.Target,
        here: @escaping @Sendable (Scene) -> Response
    ) -> Answer {
        later(scene) { scene, reply in
            if await hasOpenChanges(scene) { return slowLane.run { reply(here(scene)) } }
            switch await askBackend(scene, target) {
            case .page(let page): reply(signed(scene.answer.render(page: page), scene))
            case .item(let item): reply(signed(scene.answer.render(item: item), scene))
            case .refused(let response, let reason, let spoken):
                reply(passed(response, reason, spoken: spoken, scene))
            case .unreachable, .untranslatable: slowLane.run { reply(here(scene)) }
            }
        }
    }

    /// Asks the backend in the client's stead.
    func askBackend(_ scene: Scene, _ target: ForwardedRead.Target) async -> ForwardedAnswer {
        let answer = await scene.home.engine.forward(
            ForwardedRead(
                table: scene.call.table, target: target,
                parameters: scene.call.parameters.map(\.raw), headers: scene.headers,
                generation: scene.call.generation))
        // The client's answer says what was learned of the backend.
        await scene.home.refreshBoard()
        return answer
    }

    /// The most rows that a client's list asks the backend for; nil where the client names no number.
    func most(_ query: TableQuery) -> Int? { query.top.map { min($0, Limits.pageRowsMax) } }

    /// The backend's own answer where it gave no rows: as it came to a client of its generation, in the
    /// client's own form to others. A page of the backend gets no rights of this origin.
    func passed(
        _ response: Response, _ reason: String, spoken: Generation?, _ scene: Scene
    ) -> Response {
        guard spoken == scene.call.generation else {
            return signed(
                scene.error(.refusedByBackend(status: response.head.status.code, reason)), scene)
        }
        var fields: HTTPFields = [
            .contentSecurityPolicy: "sandbox", .xContentTypeOptions: "nosniff",
            .cacheControl: "no-store",
        ]
        for name in Self.passedFields { fields[name] = response.head.headerFields[name] }
        return signed(
            Response(
                status: response.head.status, headerFields: fields, body: response.bytes ?? []),
            scene)
    }

    private static let passedFields: [HTTPField.Name] = [
        .contentType, .wwwAuthenticate, .retryAfter, .allow,
    ]

    /// 503 with the time after which the client may come again.
    func away(_ scene: Scene, _ wait: Duration?) -> Response {
        let seconds = wait.map { max(1, Int($0.components.seconds)) }
        return signed(
            scene.error(.offline(retryAfterSeconds: seconds ?? Limits.retryAfterSeconds)), scene)
    }

    /// Lets the pull of a table begin where reads start one. A sync that is asked for pulls it in any case,
    /// also one that begins before the engine has heard of the read.
    private func pullBehind(_ scene: Scene) {
        scene.home.store.want(scene.call.table)
        if scene.home.board.mayPullForRead {
            scene.home.engine.nudge(.read(scene.call.table))
        }
    }

    private func hasOpenChanges(_ scene: Scene) async -> Bool {
        (try? await scene.home.store.hasOpenChanges(in: scene.call.table)) ?? false
    }

    /// Answers later, in a task, if there is a place for a client that waits for the backend.
    private func later(
        _ scene: Scene, _ respond: @escaping @Sendable (Scene, Reply) async -> Void
    ) -> Answer {
        .later { reply in
            guard passThrough.places.take() else { return reply(crowded(scene.call)) }
            work.start {
                await respond(scene.moved(to: slowLane.worker), reply)
                passThrough.places.giveBack()
            }
        }
    }
}
