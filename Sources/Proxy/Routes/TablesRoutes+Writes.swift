import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Writes: they join the current group commit and are answered when it is on disk. They do not wait for the
// network, but for an insert into a table whose ids the backend assigns, and under the policy write-through. A stop waits for a commit and sends its real answer; 503 means that nothing was written.
extension TablesRoutes {
    func write(
        _ context: RequestContext, _ action: LocalWrite.Action,
        stated: ItemBody.Stated = ItemBody.Stated(),
        _ request: Request
    ) -> Answer {
        let write = LocalWrite(
            table: context.call.table, action: action, conditions: context.call.conditions,
            stated: stated, generation: context.call.generation,
            parameters: context.call.parameters,
            headers: context.headers, trace: context.trace, actor: context.actor)
        let asksFirst = asksBeforeInsert(context)
        let waits = writesThrough(context)
        return .later { reply in
            guard asksFirst else { return commit(context, write, waits: waits, reply) }
            work.start {
                switch await permission(context) {
                case .allowed:
                    // By now the kind of the table's ids may be known.
                    readLater(context) { commit($0, write, waits: writesThrough($0), reply) }
                case .refused(let refusal): reply(refusal)
                case .unreadable: insertThrough(context, request, reply)
                }
            }
        }
    }

    /// - Parameter waits: see ``writesThrough(_:)``.
    private func commit(
        _ context: RequestContext, _ write: LocalWrite, waits: Bool, _ reply: Reply
    ) {
        guard reply.tryBeginChange() else { return }
        context.tenant.store.submit(write) { outcome in
            if case .unknownWhilePartial = outcome, let id = context.target,
                context.tenant.backendStatus.mayAsk
            {
                // Nothing was written.
                reply.endChange(answerOnStop: finished(outcome, context))
                afterFetch(of: id, context, write, reply)
            } else if waits, let item = outcome.item {
                reply.endChange(answerOnStop: finished(outcome, context))
                writeThrough(context, outcome, item, reply)
            } else {
                finish(outcome, context, reply)
            }
        }
    }

    /// Fetches the item from the backend, since its table is not copied yet, and commits the write again.
    /// If the backend does not give the item, its answer is the client's.
    private func afterFetch(
        of id: ItemID, _ context: RequestContext, _ write: LocalWrite, _ reply: Reply
    ) {
        work.start {
            let answer = try? await context.tenant.engine.fetch(
                await presentID(context, id), of: context.call.table,
                generation: context.call.generation)
            switch answer {
            case .refused(let response, let reason, let spoken)?:
                // An HTML page names the request of this program instead of the client's.
                let isPage = response.bytes?.first == UInt8(ascii: "<")
                reply(passed(response, reason, spoken: isPage ? nil : spoken, context))
            case .unreachable(_, let wait)?: reply(offlineAnswer(context, wait))
            case .page?, .item?, .other?, .untranslatable?: reply(offlineAnswer(context, nil))
            case nil:
                guard reply.tryBeginChange() else { return }
                let waits = writesThrough(context.moved(to: blockingExecutor.worker))
                let outcome = await context.tenant.store.submit(write)
                guard waits, let item = outcome.item else {
                    return finish(outcome, context, reply)
                }
                reply.endChange(answerOnStop: finished(outcome, context))
                writeThrough(context, outcome, item, reply)
            }
        }
    }

    /// Answers a write, and notes it if the store refused it.
    private func finish(_ outcome: WriteOutcome, _ context: RequestContext, _ reply: Reply) {
        let response = finished(outcome, context)
        refusedWrites.note(outcome, status: response.head.status.code)
        reply(response)
    }

    /// - Parameter state: the item's; whatever was just written here waits to be sent.
    func finished(
        _ outcome: WriteOutcome, _ context: RequestContext, state: ItemState = .pending
    ) -> Response {
        func written(_ response: Response) -> Response {
            annotated(response, context, state: state)
        }
        return switch outcome {
        case .inserted(let item, _): written(context.answer.render(inserted: item))
        case .updated(let item, _): written(context.answer.render(item: item))
        case .deleted: written(context.answer.renderDeleted())
        case .undeleted(let item, _): written(context.answer.render(undeleted: item))
        case .missing:
            context.error(context.target.map { .notFound($0) } ?? .failed("No such item."))
        case .gone(let item): context.error(.gone(item.id))
        case .preconditionFailed(let item): context.error(.preconditionFailed(item))
        case .alreadyExists(let item): context.error(.conflict(item))
        case .unknownWhilePartial:
            context.error(.offline(retryAfterSeconds: Limits.retryAfterSeconds))
        case .tableNotAllowed: context.error(.unknownTable(context.call.table.text))
        case .invalid(let sentence): context.error(.badRequest(sentence))
        case .storageFull(let byBudget): context.error(.storageFull(byBudget: byBudget))
        case .readOnly:
            context.error(
                .unavailable(
                    "The store cannot be written.", retryAfterSeconds: Limits.retryAfterSeconds))
        case .busy:
            context.error(
                .unavailable(
                    "Too many writes wait for the disk.",
                    retryAfterSeconds: Limits.retryAfterSeconds))
        case .failed(let sentence): context.error(.failed(sentence))
        }
    }
}
