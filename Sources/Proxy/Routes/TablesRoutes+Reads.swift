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

    private func answered<Page: Sendable>(
        _ outcome: ListAnswer<Page>, _ scene: Scene, _ query: TableQuery,
        _ render: (Page) -> Response
    ) -> Answer {
        switch outcome {
        case .overBudget:
            return .later { reply in
                slowLane.run { reply(listed(scene.moved(to: slowLane.worker), query)) }
            }
        case .partial, .unknownTable:
            if scene.home.board.mayPullForRead {
                return afterFirstPull(scene, meanwhile: { scene in await forwarded(scene, query) })
                { scene, run in listed(scene, query, after: run) }
            }
            scene.home.store.want(scene.call.table)
            return .now(finished(outcome, scene, render))
        case .page, .invalid, .failed: return .now(finished(outcome, scene, render))
        }
    }

    /// Lists without the short budget, in the slow lane.
    private func listed(_ scene: Scene, _ query: TableQuery) -> Response {
        finished(
            scene.home.store.listUnhurried(
                scene.call.table, query, generation: scene.call.generation), scene,
            scene.answer.render(page:))
    }

    /// Lists after a first pull ended. What the backend could not be asked is answered as offline.
    private func listed(_ scene: Scene, _ query: TableQuery, after run: Run) -> Response {
        let outcome = scene.home.store.listUnhurried(
            scene.call.table, query, generation: scene.call.generation)
        switch (outcome, run.state) {
        case (.partial, .signIn), (.unknownTable, .signIn):
            return signed(scene.error(.unauthorized()), scene)
        case (.partial, .complete), (.partial, .completeWithErrors), (.partial, .running):
            return stillPulling(scene)
        case (.unknownTable, .complete), (.unknownTable, .completeWithErrors):
            return signed(scene.error(.unknownTable(scene.call.table.text)), scene)
        case (.page, _), (.invalid, _), (.overBudget, _), (.failed, _), (.partial, _),
            (.unknownTable, _):
            return finished(outcome, scene, scene.answer.render(page:))
        }
    }

    /// The answer that an outcome becomes. What is incomplete while the backend is away says so.
    private func finished<Page: Sendable>(
        _ outcome: ListAnswer<Page>, _ scene: Scene, _ render: (Page) -> Response
    ) -> Response {
        switch outcome {
        case .page(let page): return listed(render(page), scene, isComplete: true)
        case .partial(let page): return listed(render(page), scene, isComplete: false)
        case .unknownTable:
            let empty = scene.answer.render(page: ItemPage(items: []))
            return listed(empty, scene, isComplete: false)
        case .invalid(let error): return scene.error(.badQuery(error))
        case .overBudget:
            return scene.error(
                .badRequest("This query needs more work than a list may take; narrow it down."))
        case .failed(let sentence): return scene.error(.failed(sentence))
        }
    }

    private func listed(_ page: Response, _ scene: Scene, isComplete: Bool) -> Response {
        var response = signed(page, scene, hasAge: true)
        if !isComplete { response.head.headerFields[.understudyComplete] = "no" }
        return response
    }

    func get(_ scene: Scene, _ id: ItemID) -> Answer {
        let outcome = found(scene, id)
        switch outcome {
        case .unknownWhilePartial, .unknownTable:
            if scene.home.board.mayPullForRead {
                return afterFirstPull(scene) { scene, run in got(scene, id, after: run) }
            }
            scene.home.store.want(scene.call.table)
            return .now(finished(outcome, scene, id))
        case .item, .missing, .gone, .failed: return .now(finished(outcome, scene, id))
        }
    }

    private func got(_ scene: Scene, _ id: ItemID, after run: Run) -> Response {
        let outcome = found(scene, id)
        switch outcome {
        case .unknownTable where run.state == .completeWithErrors:
            return signed(scene.error(.unknownTable(scene.call.table.text)), scene)
        case .unknownTable, .unknownWhilePartial:
            guard run.state == .signIn else { return finished(outcome, scene, id) }
            return signed(scene.error(.unauthorized()), scene)
        case .item, .missing, .gone, .failed: return finished(outcome, scene, id)
        }
    }

    private func found(_ scene: Scene, _ id: ItemID) -> GetOutcome {
        scene.home.store.get(
            scene.call.table, id, includeDeleted: scene.call.includeDeleted, worker: scene.worker)
    }

    private func finished(_ outcome: GetOutcome, _ scene: Scene, _ id: ItemID) -> Response {
        switch outcome {
        case .item(let item, let state):
            return signed(scene.answer.render(item: item), scene, hasAge: true, state: state)
        case .missing: return signed(scene.error(.notFound(id)), scene)
        case .gone: return signed(scene.error(.gone(id)), scene)
        case .unknownTable, .unknownWhilePartial:
            return signed(
                scene.error(.offline(retryAfterSeconds: Limits.retryAfterSeconds)), scene)
        case .failed(let sentence): return scene.error(.failed(sentence))
        }
    }

    /// Pulls the table for the first time and answers then, or says after a while that it takes
    /// longer. The client waits suspended; no thread waits with it.
    /// - Parameter meanwhile: an answer from elsewhere when the pull takes its time; nil for none.
    func afterFirstPull(
        _ scene: Scene, meanwhile: (@Sendable (Scene) async -> Response?)? = nil,
        _ respond: @escaping @Sendable (Scene, Run) -> Response
    ) -> Answer {
        .later { reply in
            let scene = scene.moved(to: slowLane.worker)
            work.start {
                await withDiscardingTaskGroup { group in
                    group.addTask {
                        let time = Duration.seconds(Limits.firstPullSeconds)
                        guard (try? await Task.sleep(for: time)) != nil else { return }
                        // The pull goes on; its own reply then does nothing.
                        reply(stillPulling(scene))
                    }
                    if let meanwhile {
                        group.addTask {
                            let time = Duration.milliseconds(Limits.forwardAfterMilliseconds)
                            // The backend may have to be found first.
                            while (try? await Task.sleep(for: time)) != nil {
                                if let response = await meanwhile(scene) { return reply(response) }
                            }
                        }
                    }
                    let run = await scene.home.engine.pull(scene.call.table, isAsked: false)
                    slowLane.run { reply(respond(scene, run)) }
                    group.cancelAll()
                }
            }
        }
    }

    /// A list that the backend gives while the table's first pull goes on. Where changes of the
    /// client's own wait to be sent there is none, since it would lack them.
    private func forwarded(_ scene: Scene, _ query: TableQuery) async -> Response? {
        let tables = (try? await scene.home.store.tables()) ?? []
        let own = tables.first { TableName($0.name) == scene.call.table }
        guard own?.pending ?? 0 == 0,
            let page = await scene.home.engine.forward(
                scene.call.table, query, pageRows: scene.call.generation.pageRows)
        else { return nil }
        return signed(scene.answer.render(page: page), scene)
    }

    func stillPulling(_ scene: Scene) -> Response {
        signed(
            scene.error(
                .unavailable(
                    "The table \(scene.call.table) is still being pulled for the first time.",
                    retryAfterSeconds: Limits.firstPullSeconds)), scene)
    }
}
