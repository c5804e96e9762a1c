import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Requests whose token names nobody yet.
extension TablesRoutes {
    /// Asks the backend whose token it is, while the client waits suspended.
    ///
    /// 1. It is somebody's: the request is answered in their home, which it may be the first to enter.
    /// 2. It is refused, or the backend is away: 401. Nothing is kept under a name that nobody has
    ///    vouched for.
    /// 3. The backend gives the table to anybody: it is asked itself, with the request as it came.
    ///    Nothing of it is kept here. Where it would not understand the request, a sign-in through
    ///    this proxy has to say whose token it is.
    func meet(
        _ token: Token, _ call: TableCall, _ request: Request, _ actor: Actor
    ) -> Answer {
        guard homes.nobody.board.mayAsk else { return .now(refused(call)) }
        return .later { reply in
            guard passThrough.signIns.take() else { return reply(crowded(call)) }
            work.start {
                let generation = homes.backendGeneration
                let verdict = await voucher.verdict(
                    token, call.table, client: call.generation, backend: generation)
                passThrough.signIns.giveBack()
                switch verdict {
                case .refused: reply(refused(call))
                case .unreachable:
                    homes.nobody.engine.nudge(.unreachable)
                    reply(refused(call))
                case .unproven where generation != nil && generation != call.generation:
                    reply(strange(call))
                case .unproven: passThrough.handle(request, .tables).send(reply)
                case .good: await enter(token, call, request, actor, reply)
                }
            }
        }
    }

    private func enter(
        _ token: Token, _ call: TableCall, _ request: Request, _ actor: Actor, _ reply: Reply
    ) async {
        do throws(StartProblem) {
            let home = try await homes.vouched(for: token)
            slowLane.run {
                let table = home.store.table(call.table, worker: slowLane.worker)
                let scene = Scene(
                    call: call, answer: TablesAnswer(to: call).showing(table?.columns),
                    home: home, actor: actor,
                    headers: forwardedHeaders.pick(from: request.head.headerFields),
                    worker: slowLane.worker)
                answer(scene, request).send(reply)
            }
        } catch {
            reply(
                TablesAnswer(to: call).render(
                    error: .unavailable(
                        "\(error)", retryAfterSeconds: Limits.retryAfterSeconds)))
        }
    }

    func crowded(_ call: TableCall) -> Response {
        TablesAnswer(to: call).render(
            error: .unavailable(
                PassThrough.crowded, retryAfterSeconds: Limits.retryAfterSeconds))
    }

    private func strange(_ call: TableCall) -> Response {
        TablesAnswer(to: call).render(
            error: .unauthorized(
                "Nobody here knows whose token this is: sign in at this address first."))
    }

    private func refused(_ call: TableCall) -> Response {
        TablesAnswer(to: call).render(error: .unauthorized())
    }
}

extension Answer {
    /// Sends the answer when it is there.
    func send(_ reply: Reply) {
        switch self {
        case .now(let response): reply(response)
        case .later(let start): start(reply)
        }
    }
}
