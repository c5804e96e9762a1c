import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// A client's request for a table of its tenant's store, and the answers that it may get.
struct TableRequest: Sendable {
    let call: TableCall
    let tenant: Tenant
    /// The caller, for the history.
    let actor: Actor
    /// As the client sent it, without secrets of this program.
    let original: Request
    /// The client's header fields that are forwarded to the backend.
    let headers: HTTPFields
    /// The call's table, found by the reader of the current thread: a server thread, the blocking
    /// executor, or a lane of ``LongReads``.
    private(set) var table: FoundTable
    /// The form of its answers.
    var answer: TablesAnswer
    private let now: @Sendable () -> Instant

    /// - Parameter worker: the number of the reader that belongs to the current thread.
    init(
        _ call: TableCall, in tenant: Tenant, by actor: Actor, _ original: Request,
        headers: HTTPFields, worker: Int, now: @escaping @Sendable () -> Instant
    ) {
        self.call = call
        self.tenant = tenant
        self.actor = actor
        self.original = original
        self.headers = headers
        self.now = now
        table = tenant.store.find(call.table, worker: worker)
        answer = TablesAnswer(to: call).showing(table.record?.columns)
    }

    /// The same request on the thread that has a reader, with the table as it is now.
    func moved(to worker: Int) -> TableRequest {
        var request = self
        request.table = tenant.store.find(call.table, worker: worker)
        return request
    }

    var status: BackendStatusCache { tenant.backendStatus }

    var fields: HTTPFields { original.head.headerFields }

    /// The query pairs of the client's own that may select rows; nil without any.
    var pairs: OwnPairs? { OwnPairs(call.parameters) }

    var trace: Trace? { Trace(fields) }

    /// The client, as far as its writes are to keep their order: its capability address, else its connection.
    var client: String { actor.clientName ?? String(original.connection.number) }

    var target: ItemID? {
        switch call.verb {
        case .list, .insert: nil
        case .get(let id, _), .update(let id, _), .replace(let id, _), .delete(let id),
            .undelete(let id):
            id
        }
    }

    /// Whether a client is answered as by its own server, which is one of Node: both are of the second generation.
    func speaksAsNode(_ tenants: TenantRegistry) -> Bool {
        let server = tenant.engine.knownServer ?? tenants.anonymous.engine.knownServer
        return server?.hasPrefix("node-") == true && call.generation == .mobileApps
    }

    func hasOpenChanges() async -> Bool {
        (try? await tenant.store.hasOpenChanges(in: call.table)) ?? false
    }
}

// What it asks of the store and of the backend.
extension TableRequest {
    /// The store's list, with the short budget.
    /// - Parameter beyondPart: whether a list beyond the part of a table gives what is here.
    func list(_ query: TableQuery, beyondPart: Bool = false) -> ListOutcome {
        tenant.store.list(
            table, query, generation: call.generation, within: pairs, beyondPart: beyondPart)
    }

    /// Sends a read to the backend.
    func ask(_ target: ForwardedRead.Target) async -> ForwardedAnswer {
        var target = target
        if case .item(let id, let includeDeleted) = target {
            target = .item(await presentID(id), includeDeleted: includeDeleted)
        }
        let answer = await tenant.engine.forward(
            ForwardedRead(
                table: call.table, target: target, parameters: call.parameters.map(\.raw),
                pairs: pairs, headers: headers, trace: trace, generation: call.generation))
        // The client's answer shows whether the backend was reached just now.
        await tenant.refreshBackendStatus()
        return answer
    }

    /// Sends a list to the backend, with the number of rows that the client names.
    func ask(_ query: TableQuery) async -> ForwardedAnswer { await ask(.list(query)) }

    /// The id by which the backend knows an item: the client may know an earlier one.
    func presentID(_ id: ItemID) async -> ItemID {
        (try? await tenant.store.presentID(of: id, in: call.table)) ?? id
    }

    /// Has the next sync pull the table.
    func want() { tenant.store.want(call.table) }

    /// Starts the pull of a table if reads start pulls. A sync on request pulls the table in any case, also if
    /// that sync begins before the engine was nudged.
    func pullBehind() {
        // The pull of a part does not bring rows outside of the part.
        if table.record?.part != nil { return }
        want()
        if status.mayPullForRead { tenant.engine.nudge(.read(call.table)) }
    }
}

extension ForwardedRead.Target {
    /// A list of as many rows as the client names, at most ``Limits/pageRowsMax``.
    static func list(_ query: TableQuery) -> ForwardedRead.Target {
        .list(query, rows: query.top.map { min($0, Limits.pageRowsMax) })
    }
}

// The form of its answers.
extension TableRequest {
    /// An error that says nothing of the backend.
    func error(_ error: TablesError) -> Response { answer.render(error: error) }

    /// Adds the header fields of every answer: whether the backend can be reached, the item's state, and
    /// the age of the table's last pull. An answer gets them once.
    func annotated(
        _ response: consuming Response, hasAge: Bool = false, state: ItemState? = nil
    ) -> Response {
        func add(_ name: HTTPField.Name, _ value: String) {
            response.head.headerFields.append(HTTPField(name: name, value: value))
        }
        add(OwnHeader.backend.name, status.isOnline ? "online" : "offline")
        if let state { add(OwnHeader.state.name, state.rawValue) }
        if hasAge, let lastPull = table.record?.lastPull {
            let age = (now().milliseconds - lastPull.milliseconds) / 1000
            add(.age, String(max(0, age)))
        }
        return response
    }

    func refused(_ error: TablesError) -> Response { annotated(self.error(error)) }

    func page(_ page: ItemPage) -> Response { annotated(answer.render(page: page)) }

    func item(_ item: Item) -> Response { annotated(answer.render(item: item)) }

    /// The store's page, and whether it is all that there is.
    private func listed(_ page: ItemPage, isComplete: Bool) -> Response {
        var response = annotated(answer.render(page: page), hasAge: true)
        if !isComplete { response.head.headerFields[own: .complete] = "no" }
        return response
    }

    /// The answer that an outcome becomes. What is incomplete while the backend is away says so, and is no
    /// answer where it is empty: only the backend can say that there are no such rows.
    func finished(_ outcome: ListOutcome) -> Response {
        switch outcome {
        case .page(let page): return listed(page, isComplete: true)
        case .partial(let page) where page.items.isEmpty && !mayContinuePage: return offline()
        case .partial(let page): return listed(page, isComplete: false)
        // An empty list would be an answer that only the backend can give.
        case .unknownTable, .beyondPart: return offline()
        case .invalid(let error): return self.error(.badQuery(error))
        case .overBudget: return error(.badRequest(LongReads.tooMuch))
        case .failed(let error): return self.error(TablesError(error))
        }
    }

    /// Whether a list may go on from an earlier page; then an empty one says that there are no more rows.
    private var mayContinuePage: Bool {
        guard case .list(let query) = call.verb else { return false }
        return query.mayContinuePage
    }

    func finished(_ outcome: GetOutcome, _ id: ItemID) -> Response {
        switch outcome {
        case .item(let item, let state):
            let other =
                call.conditions.isEmpty ? nil : tenant.store.backendVersion(table, id)
            return annotated(
                answer.render(item: item, backendVersion: other), hasAge: true, state: state)
        case .missing: return refused(.notFound(id))
        case .gone: return refused(.gone(id))
        case .unknownTable, .unknownWhilePartial: return offline()
        case .failed(let error): return self.error(TablesError(error))
        }
    }

    /// The backend's answer where it has no rows; nil for any other one.
    func passed(_ answer: ForwardedAnswer) -> Response? {
        switch answer {
        case .refused(let response, let reason, let spoken):
            passed(response, reason, spoken: spoken)
        case .other(let response): passed(response)
        case .page, .item, .withoutRow, .unreachable, .untranslatable: nil
        }
    }

    /// The backend's refusal. A client of the backend's generation gets it unchanged, any other in its own form.
    func passed(_ response: Response, _ reason: String, spoken: Generation?) -> Response {
        spoken == call.generation
            ? passed(response)
            : refused(.refusedByBackend(status: response.head.status.code, reason))
    }

    /// The backend's answer without rows, unchanged. If it is a page, it is sandboxed, so that it has no rights
    /// of this origin.
    func passed(_ response: Response) -> Response {
        var fields: HTTPFields = [
            .contentSecurityPolicy: "sandbox", .xContentTypeOptions: "nosniff",
            .cacheControl: "no-store",
        ]
        for name in Self.passedFields { fields[name] = response.head.headerFields[name] }
        return annotated(
            Response(
                status: response.head.status, headerFields: fields, body: response.bytes ?? []))
    }

    private static let passedFields: [HTTPField.Name] = [
        .contentType, .wwwAuthenticate, .retryAfter, .allow,
    ]

    /// 503 with the time after which the client may come again.
    func offline(_ wait: Duration? = nil) -> Response {
        let seconds = wait.map { max(1, Int($0.components.seconds)) }
        return refused(.offline(retryAfterSeconds: seconds ?? Limits.retryAfterSeconds))
    }

    /// 503 for a success of the backend that has no item.
    func withoutRow(_ reason: String) -> Response {
        refused(.unavailable(reason, retryAfterSeconds: Limits.retryAfterSeconds))
    }

    var stillPulling: Response {
        refused(
            .unavailable(
                "The table \(call.table) is still being pulled for the first time.",
                retryAfterSeconds: Limits.firstPullSeconds))
    }
}

extension TablesError {
    /// What a client is told when the store failed: to come again where the file could not be opened, since
    /// the system may give files again.
    fileprivate init(_ error: StoreError) {
        switch error {
        case .cannotOpen(let sentence):
            self = .unavailable(sentence, retryAfterSeconds: Limits.retryAfterSeconds)
        case .otherVersion(let sentence), .damaged(let sentence), .full(let sentence),
            .overBudget(let sentence), .readOnly(let sentence), .failed(let sentence):
            self = .failed(sentence)
        }
    }
}
