import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Answers `/tables/…` from the store: reads at once on the server's thread, writes when their
/// group commit is on disk.
struct TablesRoutes: Sendable {
    let tenants: TenantRegistry
    let defaultGeneration: Generation
    /// The only tables there are; nil for any.
    let tables: Set<TableName>?
    let work: BackgroundWork
    let blockingExecutor: BlockingExecutor
    let longReads: LongReads
    let tokenVerifier: TokenVerifier
    let passThrough: PassThrough
    let forwardedHeaders: ForwardedHeaders
    let now: @Sendable () -> Instant

    /// Answers a request that the guard let through.
    /// - Parameter base: the path of a capability address, which links in the answer begin with.
    func handle(
        _ request: Request, _ actor: Actor = .client, base: String = ""
    ) -> Answer {
        if request.head.method == .options { return .now(options(request)) }
        var call: TableCall
        do {
            call = try TableCall.parse(request, defaultGeneration: defaultGeneration)
        } catch {
            let client = ClientFamily.detect(request, default: defaultGeneration)
            return .now(TablesAnswer(client: client).render(error: error))
        }
        call.origin.tablePath = base + call.origin.tablePath
        let answer = TablesAnswer(to: call)
        guard tables?.contains(call.table) ?? true else {
            return .now(answer.render(error: .unknownTable(call.table.text)))
        }
        if let field = forwardedHeaders.tooLong(in: request.head.headerFields) {
            return .now(
                answer.render(
                    error: .badRequest(
                        "The header field \(field.name) is sent on, and has at most "
                            + "\(Limits.forwardedHeaderBytes) bytes.")))
        }
        learnKey(request)
        let token = Token(request.head.headerFields, generation: call.generation)
        return serve(call, answer, token, request, actor)
    }

    /// Answers a call where it belongs.
    private func serve(
        _ call: TableCall, _ form: TablesAnswer, _ token: Token?, _ request: Request,
        _ actor: Actor
    ) -> Answer {
        let worker = request.connection.worker
        switch tenants.resolve(token, call.table, worker: worker) {
        case .tenant(let tenant, let confirmation):
            let answer = answer(
                RequestContext(
                    call: call,
                    answer: form.showing(tenant.store.table(call.table, worker: worker)?.columns),
                    tenant: tenant, actor: actor,
                    headers: forwardedHeaders.pick(from: request.head.headerFields),
                    worker: worker),
                request)
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

    /// Takes the application key that a first generation client sends, for the backend that asks for
    /// it; what was refused without it is tried again.
    private func learnKey(_ request: Request) {
        let isRefused = tenants.anonymous.backendStatus.isSignedOut
        guard passThrough.applicationKey.learn(request.head.headerFields, isRefused: isRefused)
        else { return }
        tenants.nudge(.signedIn)
    }

    /// Answers a request in the tenant that it belongs to.
    func answer(_ context: RequestContext, _ request: Request) -> Answer {
        if context.call.generation == .datasync,
            context.tenant.store.table(context.call.table, worker: context.worker)?.idKind
                == .integer
        {
            return .now(
                context.error(
                    .untranslatable(
                        "The items of \(context.call.table) have integer ids, which clients of "
                            + "Datasync cannot read.")))
        }
        switch context.call.verb {
        case .list(let query): return read(context) { list($0, query) }
        case .get(let id, _): return read(context) { get($0, id) }
        case .insert(let body): return write(context, .insert(body), request)
        case .update(let id, let body):
            let action: LocalWrite.Action =
                if let deleted = body.deleted { .patch(id, body.columns, deleted: deleted) } else {
                    .update(id, body.columns)
                }
            return write(context, action, stated: body.stated, request)
        case .replace(let id, let body):
            let action: LocalWrite.Action =
                context.call.includeDeleted
                ? .restore(id, body.columns) : .replace(id, body.columns)
            return write(context, action, request)
        case .delete(let id): return write(context, .delete(id), request)
        case .undelete(let id): return write(context, .undelete(id), request)
        }
    }

    /// What the handlers of one request need.
    struct RequestContext: Sendable {
        let call: TableCall
        let answer: TablesAnswer
        let tenant: Tenant
        /// The caller, for the history.
        let actor: Actor
        /// The header fields of the client's own that go to the backend with it.
        let headers: HTTPFields
        /// Whose reader may be used: that of the server's thread, of the blocking executor, or of a lane of
        /// ``LongReads``.
        var worker: Int

        /// The answer to an error.
        func error(_ error: TablesError) -> Response { answer.render(error: error) }

        /// The same off the server's thread.
        func moved(to worker: Int) -> RequestContext {
            var context = self
            context.worker = worker
            return context
        }

        /// The item that the path names.
        var target: ItemID? {
            switch call.verb {
            case .list, .insert: nil
            case .get(let id, _), .update(let id, _), .replace(let id, _), .delete(let id),
                .undelete(let id):
                id
            }
        }
    }

    /// Adds what every answer says: whether the backend can be reached, the item's state, and how
    /// old the table's last pull is.
    func annotated(
        _ response: Response, _ context: RequestContext, hasAge: Bool = false,
        state: ItemState? = nil
    ) -> Response {
        let table =
            hasAge ? context.tenant.store.table(context.call.table, worker: context.worker) : nil
        var response = response
        // What the backend was asked about is signed once more when it has answered.
        func set(_ name: HTTPField.Name, _ value: String) {
            if response.head.headerFields.contains(name) {
                response.head.headerFields[name] = value
            } else {
                // Half of what the setter takes.
                response.head.headerFields.append(HTTPField(name: name, value: value))
            }
        }
        set(.understudyBackend, context.tenant.backendStatus.isOnline ? "online" : "offline")
        if let state {
            set(.understudyState, state.rawValue)
        } else {
            response.head.headerFields[.understudyState] = nil
        }
        if let lastPull = table?.lastPull {
            let age = (now().milliseconds - lastPull.milliseconds) / 1000
            set(.age, String(max(0, age)))
        }
        return response
    }
}

// What a path can be asked. A preflight of another origin's page was answered by the guard before.
extension TablesRoutes {
    /// Answers OPTIONS: 200 with `Allow`, from the path alone. Neither store nor backend is asked.
    func options(_ request: Request) -> Response {
        let client = ClientFamily.detect(request, default: defaultGeneration)
        let answer = TablesAnswer(client: client)
        do {
            let path = try TablePath(request.path)
            guard tables?.contains(path.table) ?? true else {
                return answer.render(error: .unknownTable(path.table.text))
            }
            let methods = try TableCall.allowedMethods(
                request, defaultGeneration: defaultGeneration)
            return Response(
                status: .ok, headerFields: [.allow: methods.joined(separator: ", ")])
        } catch {
            return answer.render(error: error)
        }
    }
}
