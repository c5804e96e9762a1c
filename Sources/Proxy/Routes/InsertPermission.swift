import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// The check of inserts without a token into a table that is not copied yet. It is not known whether the backend
/// accepts them, nor whether it assigns the ids. An insert that the backend would answer with 401 or 404 would
/// stay in the queue for ever, and its client would not learn the reason.
struct InsertPermission: Sendable {
    let tenants: TenantRegistry
    let passThrough: PassThrough

    /// The result of the check.
    enum Decision: Sendable {
        case allowed
        case refused(Response)
        /// The table cannot be read without a sign-in, or at all. It may accept inserts, as a feedback table
        /// does.
        case unreadable
    }

    /// Whether a request needs the check: the backend has to be asked, or has required a sign-in before.
    func isNeeded(for request: TableRequest) -> Bool {
        guard case .insert = request.call.verb, request.tenant.signIn == nil,
            request.table.record?.isComplete != true
        else { return false }
        return request.status.needsSignIn(request.call.table) ?? request.status.mayAsk
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
    func decide(_ request: TableRequest) async -> Decision {
        let (status, table) = (request.status, request.call.table)
        switch status.mayAsk ? await firstRow(request) : nil {
        case .page(let page):
            status.note(table, needsSignIn: false)
            if page.items.first?.id.kind == .integer {
                // If the store cannot be written, the insert fails with the reason.
                try? await request.tenant.store.noteIntegerIDs(of: table)
            }
            return .allowed
        case .refused(let response, let reason, let spoken):
            let code = response.head.status.code
            let refusal = request.passed(response, reason, spoken: spoken)
            // A page with 403 or 405 may be a gateway's.
            if code == 401 || !response.isPage && (code == 403 || code == 405) {
                if code == 401 { status.note(table, needsSignIn: true) }
                let isUnderstood = spoken == request.call.generation
                if isUnderstood, status.mayPullForRead { return .unreadable }
                return code == 401 ? .refused(refusal) : .allowed
            }
            // Without any list so far, a 404 may come from a wrong address.
            return code == 404 && tenants.backendGeneration != nil ? .refused(refusal) : .allowed
        case nil:
            // Later inserts do not wait for a slow backend.
            if status.needsSignIn(table) == nil { status.note(table, needsSignIn: false) }
            return lastDecision(request)
        case .item, .other, .withoutRow, .unreachable, .untranslatable:
            return lastDecision(request)
        }
    }

    /// The result by the backend's last answer for the table.
    private func lastDecision(_ request: TableRequest) -> Decision {
        request.status.needsSignIn(request.call.table) == true
            ? .refused(request.error(.unauthorized())) : .allowed
    }

    /// Passes an insert into an unreadable table through to the backend. Nothing is stored before the
    /// backend has shown that such inserts need no sign-in. If the backend accepts it, the insert counts as
    /// accepted and applied, and later inserts are stored here.
    func insertThrough(_ request: TableRequest, _ reply: Reply) {
        let (tenant, call) = (request.tenant, request.call)
        let forwarded = ForwardedRequest(
            request: request.original, client: call.client, isOfTable: true)
        passThrough.handle(forwarded).send(
            reply.intercepted { response in
                guard response.head.status.kind == .successful else { return reply(response) }
                tenant.backendStatus.note(call.table, needsSignIn: false)
                passThrough.work.start {
                    // A failure to count it does not change the answer.
                    try? await tenant.store.countForwardedWrite()
                    await tenant.engine.noteInsert(
                        answered: response, into: call.table, as: call.generation)
                    reply(response)
                }
            })
    }

    /// The backend's answer to a list of one row; nil after ``Limits/backendWaitSeconds``.
    private func firstRow(_ request: TableRequest) async -> ForwardedAnswer? {
        await withTaskGroup(of: ForwardedAnswer?.self) { group in
            group.addTask {
                let answer = await request.ask(.list(TableQuery(top: 1), rows: 1))
                if case .page(let page) = answer, page.items.isEmpty,
                    request.call.generation == .mobileServices, request.status.mayPullForRead,
                    tenants.backendGeneration ?? .mobileServices == .mobileServices
                {
                    _ = await request.tenant.engine.pull(request.call.table, isExplicit: false)
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
