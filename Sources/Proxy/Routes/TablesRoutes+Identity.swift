import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Requests with a token that has to be verified first.
extension TablesRoutes {
    /// Verifies an unknown token with the backend, while the connection is suspended.
    ///
    /// 1. The token belongs to a user: the request is answered in the user's tenant, which may be new.
    /// 2. The token is refused, or the backend cannot be reached: 401. Nothing is stored for an identity
    ///    that the backend has not confirmed.
    /// 3. The backend gives the table without a token: the request is passed through, and nothing of it is
    ///    stored. If client and backend have different generations, the answer is 401 with a request to
    ///    sign in.
    func identifyCaller(
        _ token: Token, _ call: TableCall, _ request: Request, _ actor: Actor
    ) -> Answer {
        guard tenants.anonymous.backendStatus.mayAsk else { return .now(refused(call)) }
        return .later { reply in
            work.start {
                guard await passThrough.acquirePermit(from: passThrough.signInPermits) else {
                    return reply(overloaded(call))
                }
                let generation = tenants.backendGeneration
                let verdict = await tokenVerifier.verdict(
                    token, call.table, client: call.generation, backend: generation)
                passThrough.signInPermits.release()
                switch verdict {
                case .refused: reply(refused(call))
                case .unreachable:
                    tenants.anonymous.engine.nudge(.unreachable)
                    reply(refused(call))
                case .unproven where generation != nil && generation != call.generation:
                    reply(unidentified(call))
                case .unproven: passThrough.handle(request, .tables).send(reply)
                case .good: await serve(token, call, request, actor, reply)
                }
            }
        }
    }

    /// Verifies a known token with the backend again, while the connection is suspended: the token has
    /// expired, or its last confirmation is too old.
    ///
    /// 1. If the backend cannot be reached, the token is valid until the end of `--offline-grace`. The answer
    ///    reports that.
    /// 2. Otherwise a token that is refused or has expired is removed.
    func recheckBeforeAnswer(
        _ token: Token, _ identity: String, until: Instant, _ call: TableCall, _ request: Request,
        _ actor: Actor
    ) -> Answer {
        .later { reply in
            guard passThrough.permits.take() else { return reply(overloaded(call)) }
            work.start {
                let verdict = await verdict(token, call)
                passThrough.permits.release()
                let isExpired = TokenStanding.isExpired(token.expiresAt, at: now())
                switch verdict {
                case .unreachable where now() <= until:
                    tenants.anonymous.engine.nudge(.unreachable)
                    let confirmation = TenantRegistry.TokenConfirmation(unconfirmed: until)
                    await serve(identity, token, confirmation, call, request, actor, reply)
                case .unreachable: reply(refused(call))
                case .good where !isExpired:
                    await tenants.confirmed(token)
                    await serve(
                        identity, token, TenantRegistry.TokenConfirmation(), call, request, actor,
                        reply)
                case .unproven where !isExpired:
                    await serve(
                        identity, token, TenantRegistry.TokenConfirmation(), call, request, actor,
                        reply)
                case .refused, .good, .unproven:
                    await tenants.refused(token)
                    reply(refused(call))
                }
            }
        }
    }

    /// Opens the store of an identity for a request, while the connection is suspended. If it cannot be
    /// opened, for example since too many are in use, the answer is 503.
    func open(
        _ identity: String, _ token: Token, _ confirmation: TenantRegistry.TokenConfirmation,
        _ call: TableCall,
        _ request: Request, _ actor: Actor
    ) -> Answer {
        .later { reply in
            work.start { await serve(identity, token, confirmation, call, request, actor, reply) }
        }
    }

    private func serve(
        _ identity: String, _ token: Token, _ confirmation: TenantRegistry.TokenConfirmation,
        _ call: TableCall,
        _ request: Request, _ actor: Actor, _ reply: Reply
    ) async {
        do throws(StartProblem) {
            let tenant = try await tenants.open(identity)
            tenant.signedIn(token, isFresh: false)
            if let check = confirmation.check { recheckInBackground(check, call) }
            serve(
                tenant, call, request, actor,
                reply.map { withConfirmation($0, token, confirmation) })
        } catch {
            reply(unavailable(error, call))
        }
    }

    private func unavailable(_ problem: StartProblem, _ call: TableCall) -> Response {
        let response = TablesAnswer(to: call).render(
            error: .unavailable("\(problem)", retryAfterSeconds: Limits.retryAfterSeconds))
        if call.verb.isWrite {
            refusedWrites.note(.unopened, status: response.head.status.code)
        }
        return response
    }

    /// Verifies a known token again in the background. A refused token is removed.
    func recheckInBackground(_ token: Token, _ call: TableCall) {
        guard tenants.shouldRecheck(token), passThrough.permits.take() else { return }
        work.start {
            let verdict = await verdict(token, call)
            passThrough.permits.release()
            switch verdict {
            case .good: await tenants.confirmed(token)
            case .refused: await tenants.refused(token)
            case .unproven, .unreachable: break
            }
        }
    }

    private func verdict(_ token: Token, _ call: TableCall) async -> TokenVerifier.Verdict {
        await tokenVerifier.verdict(
            token, call.table, client: call.generation, backend: tenants.backendGeneration)
    }

    /// The answer to a request with a valid token. It reports if the backend cannot confirm the token.
    func withConfirmation(
        _ response: Response, _ token: Token, _ confirmation: TenantRegistry.TokenConfirmation
    ) -> Response {
        guard let until = confirmation.unconfirmed ?? tenants.unconfirmed(token) else {
            return response
        }
        return response.adding([.understudyToken: "unconfirmed; until=\(until.text)"])
    }

    private func serve(
        _ token: Token, _ call: TableCall, _ request: Request, _ actor: Actor, _ reply: Reply
    ) async {
        do throws(StartProblem) {
            serve(try await tenants.verified(token), call, request, actor, reply)
        } catch {
            reply(unavailable(error, call))
        }
    }

    /// Answers a request in a tenant, on the blocking executor.
    private func serve(
        _ tenant: Tenant, _ call: TableCall, _ request: Request, _ actor: Actor, _ reply: Reply
    ) {
        blockingExecutor.run {
            let table = tenant.store.table(call.table, worker: blockingExecutor.worker)
            let context = RequestContext(
                call: call, answer: TablesAnswer(to: call).showing(table?.columns),
                tenant: tenant, actor: actor,
                headers: forwardedHeaders.pick(
                    from: request.head.headerFields, worker: blockingExecutor.worker),
                fields: request.head.headerFields,
                worker: blockingExecutor.worker)
            answer(context, request).send(reply)
        }
    }

    func overloaded(_ call: TableCall) -> Response {
        TablesAnswer(to: call).render(
            error: .unavailable(
                PassThrough.overloaded, retryAfterSeconds: Limits.retryAfterSeconds))
    }

    private func unidentified(_ call: TableCall) -> Response {
        TablesAnswer(to: call).render(
            error: .unauthorized(
                "It is not known here whose token this is: sign in at this address first."))
    }

    func refused(_ call: TableCall) -> Response {
        TablesAnswer(to: call).render(error: .unauthorized())
    }
}

extension Answer {
    /// Replies with the answer, now or later.
    func send(_ reply: Reply) {
        switch self {
        case .now(let response): reply(response)
        case .later(let start): start(reply)
        }
    }
}
