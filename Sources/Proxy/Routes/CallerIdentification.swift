import HTTPMessage
import HTTPTypes
import Platform
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
                case .unproven where Self.asksForChanges(request, listOf: call.table):
                    reply(unidentified(call))
                case .unproven:
                    var forwarding = PassThrough.Forwarding.tables
                    // A row of selected columns may have no id.
                    if case .get(let id, let query) = call.verb, query.select == nil {
                        forwarding.itemID = id
                    }
                    passThrough.handle(request, forwarding).send(reply)
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
            answer(call, in: tenant, actor, request, worker: blockingExecutor.worker).send(reply)
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

// Inserts without a token into a table that is not copied yet. It is not known whether the backend accepts
// them, nor whether it assigns the ids. An insert that the backend would answer with 401 or 404 would stay
// in the queue for ever, and its client would not learn the reason.
extension TablesRoutes {
    /// The result of the check before an insert.
    enum InsertPermission: Sendable {
        case allowed
        case refused(Response)
        /// The table cannot be read without a sign-in, or at all. It may accept inserts, as a feedback table
        /// does.
        case unreadable
    }

    /// Whether an insert needs the check: the backend has to be asked, or has required a sign-in before.
    func asksBeforeInsert(_ context: RequestContext) -> Bool {
        guard case .insert = context.call.verb, context.tenant.signIn == nil else { return false }
        guard context.table.settings?.isComplete != true else { return false }
        let backendStatus = context.tenant.backendStatus
        switch backendStatus.needsSignIn(context.call.table) {
        case true: return true
        case false: return false
        case nil: return backendStatus.mayAsk
        }
    }

    /// Checks whether the backend may accept an insert.
    ///
    /// 1. The backend is asked for a row of the table, while the connection is suspended. The row shows
    ///    whether the ids are integers, which a client must not get as strings. If there is no row, the
    ///    client is of the first generation and the backend may be, the table is also pulled.
    /// 2. A 404 refuses the insert if another table gave a list. After a 401, 403 or 405 the table is
    ///    unreadable, but not with `--sync manual`, which sends no write by itself, nor if client and backend
    ///    have different generations. Then the 401 refuses the insert.
    /// 3. If the backend cannot be reached or is too slow, its last answer decides.
    /// 4. Without an earlier answer the insert is allowed.
    func permission(_ context: RequestContext) async -> InsertPermission {
        let backendStatus = context.tenant.backendStatus
        let answer = backendStatus.mayAsk ? await firstRow(context) : nil
        switch answer {
        case .page(let page):
            backendStatus.note(context.call.table, needsSignIn: false)
            if page.items.first?.id.kind == .integer {
                // If the store cannot be written, the insert fails with the reason.
                try? await context.tenant.store.noteIntegerIDs(of: context.call.table)
            }
            return .allowed
        case .refused(let response, let reason, let spoken):
            let status = response.head.status.code
            let refusal = passed(response, reason, spoken: spoken, context)
            // A page with 403 or 405 may be a gateway's.
            if status == 401 || !response.isPage && (status == 403 || status == 405) {
                if status == 401 { backendStatus.note(context.call.table, needsSignIn: true) }
                let isUnderstood = spoken == context.call.generation
                if isUnderstood, backendStatus.mayPullForRead { return .unreadable }
                return status == 401 ? .refused(refusal) : .allowed
            }
            // Without any list so far, a 404 may come from a wrong address.
            return status == 404 && tenants.backendGeneration != nil ? .refused(refusal) : .allowed
        case nil:
            // Later inserts do not wait for a slow backend.
            if backendStatus.needsSignIn(context.call.table) == nil {
                backendStatus.note(context.call.table, needsSignIn: false)
            }
            return lastPermission(context)
        case .item, .other, .withoutRow, .unreachable, .untranslatable:
            return lastPermission(context)
        }
    }

    /// The result by the backend's last answer for the table.
    private func lastPermission(_ context: RequestContext) -> InsertPermission {
        context.tenant.backendStatus.needsSignIn(context.call.table) == true
            ? .refused(context.error(.unauthorized())) : .allowed
    }

    /// Passes an insert into an unreadable table through to the backend. Nothing is stored before the
    /// backend has shown that such inserts need no sign-in. If the backend accepts it, the insert counts as
    /// accepted and applied, and later inserts are stored here.
    func insertThrough(_ context: RequestContext, _ request: Request, _ reply: Reply) {
        passThrough.handle(request, .tables).send(
            reply.intercepted { response in
                guard response.head.status.kind == .successful else { return reply(response) }
                let (tenant, call) = (context.tenant, context.call)
                tenant.backendStatus.note(call.table, needsSignIn: false)
                work.start {
                    // A failure to count it does not change the answer.
                    try? await tenant.store.countForwardedWrite()
                    await tenant.engine.noteInsert(
                        answered: response, into: call.table, as: call.generation)
                    reply(response)
                }
            })
    }

    /// The backend's answer to a list of one row; nil after ``Limits/backendWaitSeconds``.
    private func firstRow(_ context: RequestContext) async -> ForwardedAnswer? {
        await withTaskGroup(of: ForwardedAnswer?.self) { group in
            group.addTask {
                let answer = await askBackend(context, .list(TableQuery(top: 1), rows: 1))
                if case .page(let page) = answer, page.items.isEmpty,
                    context.call.generation == .mobileServices,
                    context.tenant.backendStatus.mayPullForRead,
                    tenants.backendGeneration ?? .mobileServices == .mobileServices
                {
                    _ = await context.tenant.engine.pull(context.call.table, isExplicit: false)
                }
                return answer
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(Limits.backendWaitSeconds))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
