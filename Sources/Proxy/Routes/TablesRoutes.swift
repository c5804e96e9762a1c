import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Answers `/tables/…` from the store: reads at once on the server's thread, writes when their
/// group commit is on disk.
struct TablesRoutes: Sendable {
    let tenants: TenantRegistry
    let defaultGeneration: Generation
    /// The only tables that are allowed; nil for any.
    let tables: Set<TableName>?
    let work: BackgroundWork
    let blockingExecutor: BlockingExecutor
    let longReads: LongReads
    let tokenVerifier: TokenVerifier
    let passThrough: PassThrough
    let forwardedHeaders: ForwardedHeaders
    let refusedWrites: RefusedWrites
    let repeatedLists = RepeatedLists()
    let changes: ClientChanges
    let gate: Guard
    let now: @Sendable () -> Instant

    /// Answers a request that the guard has passed.
    /// - Parameter asked: its address; links in the answer begin with the capability address.
    func handle(_ request: Request, _ asked: AddressedRequest, _ actor: Actor) -> Answer {
        let path = asked.tablePath ?? .failure(.unknownTable(String(request.path)))
        if request.head.method == .options { return .now(options(request, path)) }
        var call: TableCall
        do {
            call = try TableCall.parse(request, path, defaultGeneration: defaultGeneration)
        } catch {
            let client = ClientFamily.detect(request, default: defaultGeneration)
            return .now(TablesAnswer(client: client).render(error: error))
        }
        call.origin.tablePath = asked.base + call.origin.tablePath
        let token = Token(request.head.headerFields, generation: call.generation)
        if Self.asksForChanges(request, path) {
            // The stream ends when the address is revoked, or the plain one is closed to its caller.
            return serve(call, token, request, actor).map { [changes, gate] response in
                if case .stream(let stream) = response.body {
                    changes.restrict(stream) { gate.mayUseTables(asked) }
                }
                return response
            }
        }
        guard tables?.contains(call.table) ?? true else {
            return .now(TablesAnswer(to: call).render(error: .unknownTable(call.table.text)))
        }
        if let field = forwardedHeaders.tooLong(
            in: request.head.headerFields, worker: request.connection.worker)
        {
            return .now(
                TablesAnswer(to: call).render(
                    error: .badRequest(
                        "The header field \(field.name) is sent on, and has at most "
                            + "\(Limits.forwardedHeaderBytes) bytes.")))
        }
        learnKey(request)
        return serve(call, token, request, actor)
    }

    private func serve(
        _ call: TableCall, _ token: Token?, _ request: Request, _ actor: Actor
    ) -> Answer {
        let worker = request.connection.worker
        switch tenants.resolve(token, call.table, worker: worker) {
        case .tenant(let tenant, let confirmation):
            let answer = answer(call, in: tenant, actor, request, worker: worker)
            if let check = confirmation.check { recheckInBackground(check, call) }
            guard let token, tenant.signIn != nil else { return answer }
            return answer.map { withConfirmation($0, token, confirmation) }
        case .closed(let identity, let token, let confirmation):
            return open(identity, token, confirmation, call, request, actor)
        case .unknown(let token): return identifyCaller(token, call, request, actor)
        case .doubtful(let token, let identity, let until):
            return recheckBeforeAnswer(token, identity, until: until, call, request, actor)
        case .ended: return .now(refused(call))
        }
    }

    /// Learns the application key that a first generation client sends. With a new key, operations that the
    /// backend has refused without it are sent again.
    func learnKey(_ request: Request) {
        let isRefused = tenants.anonymous.backendStatus.isSignedOut
        guard passThrough.applicationKey.learn(request.head.headerFields, isRefused: isRefused)
        else { return }
        tenants.nudge(.signedIn)
    }

    /// Answers a request in a tenant.
    /// - Parameter worker: the number of the reader that belongs to the current thread.
    func answer(
        _ call: TableCall, in tenant: Tenant, _ actor: Actor, _ request: Request, worker: Int
    ) -> Answer {
        let fields = request.head.headerFields
        let table = tenant.store.find(call.table, worker: worker)
        let context = RequestContext(
            call: call, answer: TablesAnswer(to: call).showing(table.settings?.columns),
            tenant: tenant, actor: actor,
            headers: forwardedHeaders.pick(from: fields, worker: worker), fields: fields,
            connection: request.connection.number, table: table)
        if case .list = call.verb, Self.asksForChanges(request, listOf: call.table) {
            return .now(
                followChanges(context, Token(fields, generation: call.generation)))
        }
        if call.generation == .datasync, table.settings?.idKind == .integer {
            return .now(
                context.error(
                    .untranslatable(
                        "The items of \(call.table) have integer ids, which clients of "
                            + "Datasync cannot read.")))
        }
        if call.verb.isWrite { tenant.use.note(call.table, now: tenants.clock.uptime()) }
        switch call.verb {
        case .list(let query):
            if let rows = query.top, rows > Limits.pageRowsMax, speaksAsNode(context) {
                return listOfMany(context, query, rows: rows)
            }
            return read(context) { list($0, query) }
        case .get(let id, _): return read(context) { get($0, id) }
        case .insert(let body):
            if let id = body.id, let reason = id.reasonAgainstPaths {
                return .now(
                    context.error(
                        .badRequest(
                            "No request could name an item with the id '\(id)'. \(reason) "
                                + "Use another id.")))
            }
            return write(context, .insert(body), request)
        case .update(let id, let body):
            let action: WriteAction =
                if let deleted = body.deleted { .patch(id, body.columns, deleted: deleted) } else {
                    .update(id, body.columns)
                }
            return write(context, action, stated: body.stated, request)
        case .replace(let id, let body):
            let action: WriteAction =
                if body.deleted == true {
                    .patch(id, body.columns, deleted: true)
                } else if call.includeDeleted {
                    .restore(id, body.columns)
                } else {
                    .replace(id, body.columns)
                }
            return write(context, action, request)
        case .delete(let id): return write(context, .delete(id), request)
        case .undelete(let id): return write(context, .undelete(id), request)
        }
    }

    /// The values that all handlers of one request share.
    struct RequestContext: Sendable {
        let call: TableCall
        var answer: TablesAnswer
        let tenant: Tenant
        /// The caller, for the history.
        let actor: Actor
        /// The client's header fields that are forwarded to the backend.
        let headers: HTTPFields
        let fields: HTTPFields
        /// The number of the client's connection.
        let connection: UInt64
        /// The call's table, found by the reader of the current thread: a server thread, the blocking
        /// executor, or a lane of ``LongReads``.
        var table: FoundTable

        /// The query pairs of the client's own that may select rows; nil without any.
        var pairs: OwnPairs? { OwnPairs(call.parameters) }

        var trace: Trace? { Trace(fields) }

        /// The client, as far as its writes are to keep their order: its capability address, else its connection.
        var client: String { actor.clientName ?? String(connection) }

        func error(_ error: TablesError) -> Response { answer.render(error: error) }

        /// The same context on the thread that has a reader, with the table as it is now.
        func moved(to worker: Int) -> RequestContext {
            var context = self
            context.table = tenant.store.find(call.table, worker: worker)
            return context
        }

        var target: ItemID? {
            switch call.verb {
            case .list, .insert: nil
            case .get(let id, _), .update(let id, _), .replace(let id, _), .delete(let id),
                .undelete(let id):
                id
            }
        }
    }

    /// Adds the header fields of every answer: whether the backend can be reached, the item's state, and
    /// the age of the table's last pull. An answer gets them once.
    func annotated(
        _ response: consuming Response, _ context: RequestContext, hasAge: Bool = false,
        state: ItemState? = nil
    ) -> Response {
        func add(_ name: HTTPField.Name, _ value: String) {
            response.head.headerFields.append(HTTPField(name: name, value: value))
        }
        add(.understudyBackend, context.tenant.backendStatus.isOnline ? "online" : "offline")
        if let state { add(.understudyState, state.rawValue) }
        if hasAge, let lastPull = context.table.settings?.lastPull {
            let age = (now().milliseconds - lastPull.milliseconds) / 1000
            add(.age, String(max(0, age)))
        }
        return response
    }

    /// Goes on with a request in the blocking executor, after a wait.
    func readLater(
        _ context: RequestContext, _ body: @escaping @Sendable (RequestContext) -> Void
    ) {
        blockingExecutor.run { body(context.moved(to: blockingExecutor.worker)) }
    }
}

extension ItemID {
    /// Why the guard refuses every path of an item with this id; nil if the item can be named. An id such as
    /// `%2e` is a dot segment for servers that decode twice.
    fileprivate var reasonAgainstPaths: String? {
        let mayHoldDots = text.utf8.contains {
            [UInt8(ascii: "."), UInt8(ascii: "%")].contains($0)
        }
        guard mayHoldDots else { return nil }
        do throws(TargetPath.Malformed) {
            _ = try TargetPath(Substring("/tables/t/" + PercentCoding.encode(text)))
            return nil
        } catch {
            return error.sentence
        }
    }
}

// OPTIONS. The guard has answered the preflights of other origins before.
extension TablesRoutes {
    /// Answers OPTIONS by the path and the client's generation, without store and backend: 200 with `Allow`.
    private func options(
        _ request: Request, _ path: Result<TablePath, TablesError>
    ) -> Response {
        let client = ClientFamily.detect(request, default: defaultGeneration)
        let answer = TablesAnswer(client: client)
        do {
            let path = try path.get()
            guard tables?.contains(path.table) ?? true else {
                return answer.render(error: .unknownTable(path.table.text))
            }
            let methods = TableCall.allowedMethods(
                request, path, defaultGeneration: defaultGeneration)
            return Response(
                status: .ok, headerFields: [.allow: methods.joined(separator: ", ")])
        } catch {
            return answer.render(error: error)
        }
    }
}
