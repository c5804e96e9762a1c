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
            work.start {
                guard await passThrough.takesTurn() else { return reply(crowded(call)) }
                let generation = homes.backendGeneration
                let verdict = await verifier.verdict(
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

    /// Asks the backend whether it still takes a token, while the client waits suspended: its time is
    /// over, or the backend has not been heard of for long.
    ///
    /// 1. The backend is away: the token is good until the end of `--offline-grace`, and the answer
    ///    says so.
    /// 2. The backend is there: a token that it refuses, or whose time is over, ends.
    func doubt(
        _ token: Token, _ identity: String, until: Instant, _ call: TableCall, _ request: Request,
        _ actor: Actor
    ) -> Answer {
        .later { reply in
            guard passThrough.places.take() else { return reply(crowded(call)) }
            work.start {
                let verdict = await verdict(token, call)
                passThrough.places.giveBack()
                let isExpired = TokenStanding.isExpired(token.expiresAt, at: now())
                switch verdict {
                case .unreachable where now() <= until:
                    homes.nobody.engine.nudge(.unreachable)
                    let entry = Homes.Entry(unconfirmed: until)
                    await enter(identity, token, entry, call, request, actor, reply)
                case .unreachable: reply(refused(call))
                case .good where !isExpired:
                    await homes.confirmed(token)
                    await enter(identity, token, Homes.Entry(), call, request, actor, reply)
                case .unproven where !isExpired:
                    await enter(identity, token, Homes.Entry(), call, request, actor, reply)
                case .refused, .good, .unproven:
                    await homes.refused(token)
                    reply(refused(call))
                }
            }
        }
    }

    /// Opens the store of an identity for a request, while the client waits suspended. Where it cannot be
    /// opened now, since too many are in use or the system gives no more files, the answer is 503.
    func open(
        _ identity: String, _ token: Token, _ entry: Homes.Entry, _ call: TableCall,
        _ request: Request, _ actor: Actor
    ) -> Answer {
        .later { reply in
            work.start { await enter(identity, token, entry, call, request, actor, reply) }
        }
    }

    private func enter(
        _ identity: String, _ token: Token, _ entry: Homes.Entry, _ call: TableCall,
        _ request: Request, _ actor: Actor, _ reply: Reply
    ) async {
        do throws(StartProblem) {
            let home = try await homes.open(identity)
            home.signedIn(token, isFresh: false)
            if let check = entry.check { examine(check, call) }
            enter(
                home, call, request, actor,
                reply.map { confirmed($0, token, entry) })
        } catch {
            reply(unavailable(error, call))
        }
    }

    private func unavailable(_ problem: StartProblem, _ call: TableCall) -> Response {
        TablesAnswer(to: call).render(
            error: .unavailable("\(problem)", retryAfterSeconds: Limits.retryAfterSeconds))
    }

    /// Asks the backend beside the answer whether it still takes a token; one that it refuses ends.
    func examine(_ token: Token, _ call: TableCall) {
        guard homes.beginsExamination(of: token), passThrough.places.take() else { return }
        work.start {
            let verdict = await verdict(token, call)
            passThrough.places.giveBack()
            switch verdict {
            case .good: await homes.confirmed(token)
            case .refused: await homes.refused(token)
            case .unproven, .unreachable: break
            }
        }
    }

    private func verdict(_ token: Token, _ call: TableCall) async -> TokenVerifier.Verdict {
        await verifier.verdict(
            token, call.table, client: call.generation, backend: homes.backendGeneration)
    }

    /// An answer to a client with a good token, which says so where the backend could not confirm it, or
    /// cannot now.
    func confirmed(_ response: Response, _ token: Token, _ entry: Homes.Entry) -> Response {
        guard let until = entry.unconfirmed ?? homes.unconfirmed(token) else { return response }
        return response.adding([.understudyToken: "unconfirmed; until=\(until.text)"])
    }

    private func enter(
        _ token: Token, _ call: TableCall, _ request: Request, _ actor: Actor, _ reply: Reply
    ) async {
        do throws(StartProblem) {
            enter(try await homes.vouched(for: token), call, request, actor, reply)
        } catch {
            reply(unavailable(error, call))
        }
    }

    /// Answers a request in a home, off the server's threads.
    private func enter(
        _ home: Home, _ call: TableCall, _ request: Request, _ actor: Actor, _ reply: Reply
    ) {
        slowLane.run {
            let table = home.store.table(call.table, worker: slowLane.worker)
            let scene = Scene(
                call: call, answer: TablesAnswer(to: call).showing(table?.columns),
                home: home, actor: actor,
                headers: forwardedHeaders.pick(from: request.head.headerFields),
                worker: slowLane.worker)
            answer(scene, request).send(reply)
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

    func refused(_ call: TableCall) -> Response {
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
