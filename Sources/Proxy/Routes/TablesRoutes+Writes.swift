import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Writes: they join the current group commit and are answered when it is on disk. They never wait
// for the network. A stop lets a commit end and answers it truly; 503 says that nothing was written.
extension TablesRoutes {
    func write(
        _ scene: Scene, _ action: LocalWrite.Action, stated: ItemBody.Stated = ItemBody.Stated(),
        _ request: Request
    ) -> Answer {
        let write = LocalWrite(
            table: scene.call.table, action: action, conditions: scene.call.conditions,
            stated: stated, generation: scene.call.generation,
            parameters: scene.call.parameters,
            headers: scene.headers,
            traceparent: request.head.headerFields[.traceparent], actor: scene.actor)
        let asksFirst = asksBeforeInsert(scene)
        let waits = writesThrough(scene)
        return .later { reply in
            guard asksFirst else { return commit(scene, write, waits: waits, reply) }
            work.start {
                switch await permission(scene) {
                case .taken: commit(scene.moved(to: slowLane.worker), write, waits: waits, reply)
                case .refused(let refusal): reply(refusal)
                case .unreadable: insertThrough(scene, request, reply)
                }
            }
        }
    }

    private func commit(_ scene: Scene, _ write: LocalWrite, waits: Bool, _ reply: Reply) {
        guard reply.beginsChange() else { return }
        scene.home.store.submit(write) { outcome in
            if case .unknownWhilePartial = outcome, let id = scene.target, scene.home.board.mayAsk {
                // Nothing was written.
                reply.changed(finished(outcome, scene))
                afterFetch(of: id, scene, write, reply)
            } else if let item = outcome.item, waits {
                reply.changed(finished(outcome, scene))
                writeThrough(scene, outcome, item, reply)
            } else {
                reply(finished(outcome, scene))
            }
        }
    }

    /// Takes the item from the backend, since its table is not copied yet, and tries again. Where the
    /// backend says something else of the item, that is the answer.
    private func afterFetch(
        of id: ItemID, _ scene: Scene, _ write: LocalWrite, _ reply: Reply
    ) {
        work.start {
            let answer = try? await scene.home.engine.fetch(
                id, of: scene.call.table, generation: scene.call.generation)
            switch answer {
            case .refused(let response, let reason, let spoken)?:
                // A page names the request that was made here, and not the client's.
                let isPage = response.bytes?.first == UInt8(ascii: "<")
                reply(passed(response, reason, spoken: isPage ? nil : spoken, scene))
            case .unreachable(_, let wait)?: reply(away(scene, wait))
            case .page?, .item?, .untranslatable?: reply(away(scene, nil))
            case nil:
                guard reply.beginsChange() else { return }
                let outcome = await scene.home.store.submit(write)
                guard let item = outcome.item, writesThrough(scene.moved(to: slowLane.worker))
                else { return reply(finished(outcome, scene)) }
                reply.changed(finished(outcome, scene))
                writeThrough(scene, outcome, item, reply)
            }
        }
    }

    func finished(_ outcome: WriteOutcome, _ scene: Scene) -> Response {
        switch outcome {
        case .inserted(let item): pending(scene.answer.render(inserted: item), scene)
        case .updated(let item): pending(scene.answer.render(item: item), scene)
        case .deleted: pending(scene.answer.renderDeleted(), scene)
        case .undeleted(let item): pending(scene.answer.render(undeleted: item), scene)
        case .missing: scene.error(scene.target.map { .notFound($0) } ?? .failed("No such item."))
        case .gone(let item): scene.error(.gone(item.id))
        case .preconditionFailed(let item): scene.error(.preconditionFailed(item))
        case .alreadyExists(let item): scene.error(.conflict(item))
        case .unknownWhilePartial:
            scene.error(.offline(retryAfterSeconds: Limits.retryAfterSeconds))
        case .tableNotAllowed: scene.error(.unknownTable(scene.call.table.text))
        case .invalid(let sentence): scene.error(.badRequest(sentence))
        case .storageFull: scene.error(.storageFull)
        case .readOnly:
            scene.error(
                .unavailable(
                    "The store cannot be written.", retryAfterSeconds: Limits.retryAfterSeconds))
        case .busy:
            scene.error(
                .unavailable(
                    "Too many writes wait for the disk.",
                    retryAfterSeconds: Limits.retryAfterSeconds))
        case .failed(let sentence): scene.error(.failed(sentence))
        }
    }

    private func pending(_ response: Response, _ scene: Scene) -> Response {
        signed(response, scene, state: .pending)
    }
}
