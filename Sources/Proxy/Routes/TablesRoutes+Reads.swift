import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Reads: they run to their end on the server's thread, on the reader that it owns.
extension TablesRoutes {
    func list(_ scene: Scene, _ query: TableQuery) -> Answer {
        let (store, call) = (scene.home.store, scene.call)
        // As text where no row has to be looked into: values of the rows cost more than the rows.
        if let page = scene.answer.emptyPage {
            return answered(
                store.list(
                    call.table, query, into: page, generation: call.generation,
                    worker: scene.worker), scene, query, scene.answer.render(page:))
        }
        return answered(
            store.list(call.table, query, generation: call.generation, worker: scene.worker),
            scene, query, scene.answer.render(page:))
    }

    private func answered<Page: ListedPage>(
        _ outcome: ListAnswer<Page>, _ scene: Scene, _ query: TableQuery,
        _ render: @escaping @Sendable (Page) -> Response
    ) -> Answer {
        switch outcome {
        // The times that a client syncs by are always the store's.
        case .page
        where hasOwnPairs(scene) && !query.asksForChanges:
            return readWithOwnPairs(scene, .list(query, rows: most(query))) {
                finished(outcome, $0, render)
            }
        case .overBudget:
            return .later { reply in
                listLong(scene, query, reply) { outcome, scene in
                    switch outcome {
                    case .page, .partial, .unknownTable:
                        answered(outcome, scene, query, scene.answer.render(page:)).send(reply)
                    case .overBudget, .invalid, .failed:
                        reply(finished(outcome, scene, scene.answer.render(page:)))
                    }
                }
            }
        case .partial, .unknownTable:
            return listOfIncomplete(scene, query) { finished(outcome, $0, render) }
        case .page, .invalid, .failed: return .now(finished(outcome, scene, render))
        }
    }

    /// Lists on the calling thread with the short budget; a list that goes over it runs when it is the
    /// client's turn.
    func listOffServer(
        _ scene: Scene, _ query: TableQuery, _ reply: Reply,
        then: @escaping @Sendable (ListOutcome, Scene) -> Void
    ) {
        let outcome = scene.home.store.list(
            scene.call.table, query, generation: scene.call.generation, worker: scene.worker)
        guard case .overBudget = outcome else { return then(outcome, scene) }
        listLong(scene, query, reply, then: then)
    }

    /// Lists without the short budget, when it is the client's turn, for as long as the client waits.
    /// - Parameter then: gets the outcome on the lane's thread, with the scene there.
    private func listLong(
        _ scene: Scene, _ query: TableQuery, _ reply: Reply,
        then: @escaping @Sendable (ListOutcome, Scene) -> Void
    ) {
        let client = LongReads.Client(identity: scene.home.identity, actor: scene.actor)
        let isTaken = longReads.run(for: client, isLeft: { reply.isLeft }) { reader in
            let left = TablesError.unavailable(
                LongReads.left, retryAfterSeconds: Limits.longReadRetrySeconds)
            guard let reader else { return reply(scene.error(left)) }
            let scene = scene.moved(to: reader)
            let outcome = scene.home.store.listUnhurried(
                scene.call.table, query, generation: scene.call.generation, worker: reader,
                isLeft: { reply.isLeft })
            guard !reply.isLeft else { return reply(scene.error(left)) }
            then(outcome, scene)
        }
        guard !isTaken else { return }
        reply(
            scene.error(
                .unavailable(
                    LongReads.tooMany, retryAfterSeconds: Limits.longReadRetrySeconds)))
    }

    /// The answer that an outcome becomes. What is incomplete while the backend is away says so, and is no
    /// answer where it is empty: only the backend can say that there are no such rows.
    func finished<Page: ListedPage>(
        _ outcome: ListAnswer<Page>, _ scene: Scene, _ render: (Page) -> Response
    ) -> Response {
        switch outcome {
        case .page(let page): return listed(render(page), scene, isComplete: true)
        case .partial(let page) where page.isEmpty && !mayGoOn(scene): return away(scene, nil)
        case .partial(let page): return listed(render(page), scene, isComplete: false)
        // An empty list would be an answer that only the backend can give.
        case .unknownTable: return away(scene, nil)
        case .invalid(let error): return scene.error(.badQuery(error))
        case .overBudget:
            return scene.error(.badRequest(LongReads.tooMuch))
        case .failed(let error): return scene.error(Self.failure(error))
        }
    }

    /// Whether a list may go on from an earlier page; then an empty one says that there are no more rows.
    private func mayGoOn(_ scene: Scene) -> Bool {
        guard case .list(let query) = scene.call.verb else { return false }
        return query.mayGoOn
    }

    private func listed(_ page: Response, _ scene: Scene, isComplete: Bool) -> Response {
        var response = signed(page, scene, hasAge: true)
        if !isComplete { response.head.headerFields[.understudyComplete] = "no" }
        return response
    }

    /// What a client is told when the store failed: to come again where the file could not be opened, since
    /// the system may give files again.
    private static func failure(_ error: StoreError) -> TablesError {
        switch error {
        case .cannotOpen(let sentence):
            .unavailable(sentence, retryAfterSeconds: Limits.retryAfterSeconds)
        case .newerVersion(let sentence), .damaged(let sentence), .full(let sentence),
            .overBudget(let sentence), .readOnly(let sentence), .failed(let sentence):
            .failed(sentence)
        }
    }

    func get(_ scene: Scene, _ id: ItemID) -> Answer {
        let outcome = found(scene, id)
        switch outcome {
        case .unknownWhilePartial, .unknownTable: return itemOfIncomplete(scene, id)
        case .item, .missing, .gone:
            guard hasOwnPairs(scene) else { return .now(finished(outcome, scene, id)) }
            let target = ForwardedRead.Target.item(id, includeDeleted: scene.call.includeDeleted)
            return readWithOwnPairs(scene, target) { finished(outcome, $0, id) }
        case .failed: return .now(finished(outcome, scene, id))
        }
    }

    private func found(_ scene: Scene, _ id: ItemID) -> GetOutcome {
        scene.home.store.get(
            scene.call.table, id, includeDeleted: scene.call.includeDeleted, worker: scene.worker)
    }

    private func finished(_ outcome: GetOutcome, _ scene: Scene, _ id: ItemID) -> Response {
        switch outcome {
        case .item(let item, let state):
            let other =
                scene.call.conditions.isEmpty
                ? nil
                : scene.home.store.backendVersion(scene.call.table, id, worker: scene.worker)
            return signed(
                scene.answer.render(item: item, backendVersion: other), scene, hasAge: true,
                state: state)
        case .missing: return signed(scene.error(.notFound(id)), scene)
        case .gone: return signed(scene.error(.gone(id)), scene)
        case .unknownTable, .unknownWhilePartial: return away(scene, nil)
        case .failed(let error): return scene.error(Self.failure(error))
        }
    }

    func stillPulling(_ scene: Scene) -> Response {
        signed(
            scene.error(
                .unavailable(
                    "The table \(scene.call.table) is still being pulled for the first time.",
                    retryAfterSeconds: Limits.firstPullSeconds)), scene)
    }
}
