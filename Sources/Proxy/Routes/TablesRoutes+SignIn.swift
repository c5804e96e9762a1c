import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Inserts without a token into a table that is not copied yet: whether the backend takes them is not
// known, nor whether it assigns the ids. One that it would answer with 401 or 404 would wait here for
// ever, and its client would not learn why.
extension TablesRoutes {
    /// What is known of an insert before it is taken.
    enum InsertPermission: Sendable {
        case taken
        case refused(Response)
        /// The table cannot be read without a sign-in, and may take inserts without one, as a table of
        /// feedback does.
        case unreadable
    }

    /// Whether the backend has to be asked before an insert, or said before that it wants a sign-in.
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

    /// Whether the backend may take an insert.
    ///
    /// 1. The backend is asked for a row of the table; the client waits suspended. One that is, or may
    ///    be, of the first generation is pulled from as well: its ids may be integers, which a client
    ///    must not be given as strings.
    /// 2. 404 is the client's answer where another table gave a list. After 401 the table is unreadable:
    ///    401 is the client's answer with `--sync manual`, where no write is sent unasked, and where the
    ///    backend would not understand the client's request.
    /// 3. Where the backend is away or takes its time, what it said before counts.
    /// 4. Where it never said anything, the insert is taken: it may be all right.
    func permission(_ context: RequestContext) async -> InsertPermission {
        let backendStatus = context.tenant.backendStatus
        let answer = backendStatus.mayAsk ? await firstRow(context) : nil
        switch answer {
        case .page(let page):
            backendStatus.note(context.call.table, needsSignIn: false)
            if page.items.first?.id.kind == .integer {
                // Where the store cannot be written, the insert says so.
                try? await context.tenant.store.noteIntegerIDs(of: context.call.table)
            }
            return .taken
        case .refused(let response, let reason, let spoken):
            let status = response.head.status.code
            let refusal = passed(response, reason, spoken: spoken, context)
            if status == 401 {
                backendStatus.note(context.call.table, needsSignIn: true)
                let isUnderstood = spoken == context.call.generation
                return isUnderstood && backendStatus.mayPullForRead
                    ? .unreadable : .refused(refusal)
            }
            // A 404 of an address that never gave a list may be that of a wrong address.
            return status == 404 && tenants.backendGeneration != nil ? .refused(refusal) : .taken
        case nil:
            // No further insert waits for a backend that takes its time.
            if backendStatus.needsSignIn(context.call.table) == nil {
                backendStatus.note(context.call.table, needsSignIn: false)
            }
            return lastPermission(context)
        case .item, .unreachable, .untranslatable:
            return lastPermission(context)
        }
    }

    /// What the backend said of the table before.
    private func lastPermission(_ context: RequestContext) -> InsertPermission {
        context.tenant.backendStatus.needsSignIn(context.call.table) == true
            ? .refused(context.error(.unauthorized())) : .taken
    }

    /// Sends an insert into an unreadable table to the backend as it came, and answers what it answers:
    /// nothing is kept here before the backend has said that such inserts need no sign-in. One that it
    /// takes lets later ones be taken here, and counts as accepted and applied.
    func insertThrough(_ context: RequestContext, _ request: Request, _ reply: Reply) {
        passThrough.handle(request, .tables).send(
            reply.intercepted { response in
                guard response.head.status.kind == .successful else { return reply(response) }
                context.tenant.backendStatus.note(context.call.table, needsSignIn: false)
                work.start {
                    // The backend has it, whether it can be counted or not.
                    try? await context.tenant.store.countSentThrough()
                    reply(response)
                }
            })
    }

    /// What the backend answers to a list of one row; nil when it takes its time.
    private func firstRow(_ context: RequestContext) async -> ForwardedAnswer? {
        await withTaskGroup(of: ForwardedAnswer?.self) { group in
            group.addTask {
                let answer = await askBackend(context, .list(TableQuery(top: 1), rows: 1))
                if case .page(let page) = answer, page.items.isEmpty,
                    context.call.generation == .mobileServices,
                    context.tenant.backendStatus.mayPullForRead,
                    tenants.backendGeneration ?? .mobileServices == .mobileServices
                {
                    _ = await context.tenant.engine.pull(context.call.table, isAsked: false)
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
