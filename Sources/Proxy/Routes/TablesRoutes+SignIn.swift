import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Inserts without a token into a table that is not copied yet. It is not known whether the backend accepts
// them, nor whether it assigns the ids. An insert that the backend would answer with 401 or 404 would stay
// in the queue for ever, and its client would not learn the reason.
extension TablesRoutes {
    /// The result of the check before an insert.
    enum InsertPermission: Sendable {
        case allowed
        case refused(Response)
        /// The table cannot be read without a sign-in. It may accept inserts without one, as a feedback table
        /// does.
        case unreadable
    }

    /// Whether an insert needs the check: the backend has to be asked, or has required a sign-in before.
    func asksBeforeInsert(_ context: RequestContext) -> Bool {
        guard case .insert = context.call.verb, context.tenant.signIn == nil else { return false }
        let table = context.tenant.store.table(context.call.table, worker: context.worker)
        guard table?.isComplete != true else { return false }
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
    /// 2. A 404 refuses the insert if another table gave a list. After a 401 the table is unreadable. The
    ///    401 refuses the insert with `--sync manual`, which sends no write by itself, and if client and
    ///    backend have different generations.
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
            if status == 401 {
                backendStatus.note(context.call.table, needsSignIn: true)
                let isUnderstood = spoken == context.call.generation
                return isUnderstood && backendStatus.mayPullForRead
                    ? .unreadable : .refused(refusal)
            }
            // Without any list so far, a 404 may come from a wrong address.
            return status == 404 && tenants.backendGeneration != nil ? .refused(refusal) : .allowed
        case nil:
            // Later inserts do not wait for a slow backend.
            if backendStatus.needsSignIn(context.call.table) == nil {
                backendStatus.note(context.call.table, needsSignIn: false)
            }
            return lastPermission(context)
        case .item, .other, .unreachable, .untranslatable:
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
                context.tenant.backendStatus.note(context.call.table, needsSignIn: false)
                work.start {
                    // A failure to count it does not change the answer.
                    try? await context.tenant.store.countForwardedWrite()
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
