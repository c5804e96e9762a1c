import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Answers `/tables/…` from the store: reads at once on the server's thread, writes when their
/// group commit is on disk.
struct TablesRoutes: Sendable {
    let tenants: TenantRegistry
    /// The only tables that are allowed; nil for any.
    let allowed: Set<TableName>?
    let callers: CallerIdentification
    let reads: TableReads
    let writes: TableWrites
    let changes: ClientChanges
    let itemPaths: ItemPaths
    let passThrough: PassThrough
    let forwardedHeaders: ForwardedHeaders
    let waiting: Waiting
    let gate: Guard

    /// Answers a request that the guard has passed.
    /// - Parameters:
    ///   - asked: its address; links in the answer begin with the capability address.
    ///   - forwarded: the same for the backend, for a path below an item.
    func handle(
        _ request: Request, _ asked: AddressedRequest, _ actor: Actor,
        _ forwarded: @autoclosure () -> ForwardedRequest
    ) -> Answer {
        let head = asked.tablesHead
        func refused(_ error: TablesError) -> Answer {
            .now(TablesAnswer(client: head.client).render(error: error))
        }
        let path = try? head.path.get()
        let isAllowed = path.map { allowed?.contains($0.table) ?? true } ?? true
        let followsChanges = ClientChanges.areAsked(by: request, path)
        if let path, !isAllowed, !path.below.isEmpty || request.head.method == .options {
            request.bodyStream?.cancel()
            return refused(.unknownTable(path.table.text))
        }
        if let path, let id = path.id, !path.below.isEmpty {
            return itemPaths.passOn(forwarded(), path, id)
        }
        var call: TableCall
        do {
            if request.head.method == .options { return .now(try options(head)) }
            call = try TableCall.parse(request, head)
        } catch { return refused(error) }
        call.origin.tablePath = asked.base + call.origin.tablePath
        let token = Token(request.head.headerFields, generation: call.generation)
        if followsChanges {
            // The stream ends when the address is revoked, or the plain one is closed to its caller.
            return serve(call, token, request, actor).map { [changes, gate] response in
                if case .stream(let stream) = response.body {
                    changes.restrict(stream) { gate.mayUseTables(asked) }
                }
                return response
            }
        }
        guard isAllowed else { return refused(.unknownTable(call.table.text)) }
        if let field = forwardedHeaders.tooLong(
            in: request.head.headerFields, worker: request.connection.worker)
        {
            return refused(
                .badRequest(
                    "The header field \(field.name) is sent on, and has at most "
                        + "\(Limits.forwardedHeaderBytes) bytes."))
        }
        passThrough.learnKey(request)
        return serve(call, token, request, actor)
    }

    /// Answers OPTIONS by the path and the client's generation, without store and backend: 200 with `Allow`.
    /// The guard has answered the preflights of other origins before.
    private func options(_ head: TablesHead) throws(TablesError) -> Response {
        let methods = try head.allowedMethods()
        return Response(status: .ok, headerFields: [.allow: methods.joined(separator: ", ")])
    }

    private func serve(
        _ call: TableCall, _ token: Token?, _ request: Request, _ actor: Actor
    ) -> Answer {
        let worker = request.connection.worker
        switch tenants.resolve(token, call.table, worker: worker) {
        case .tenant(let tenant, let confirmation):
            let answer = answer(call, in: tenant, actor, request, worker: worker)
            if let check = confirmation.check { callers.recheckInBackground(check, call) }
            guard let token, tenant.signIn != nil else { return answer }
            return answer.map { callers.withConfirmation($0, token, confirmation) }
        case .closed(let identity, let token, let confirmation):
            return serve(call, token, request, actor) {
                await callers.open(identity, token, confirmation, call)
            }
        case .unknown(let token) where tenants.anonymous.backendStatus.mayAsk:
            return serve(call, token, request, actor) {
                await callers.identify(
                    token, call,
                    followsChanges: ClientChanges.areAsked(by: request, listOf: call.table))
            }
        case .doubtful(let token, let identity, let until):
            return serve(call, token, request, actor) {
                await callers.recheck(token, identity, until: until, call)
            }
        case .unknown, .ended: return .now(CallerIdentification.unauthorized(call))
        }
    }

    /// Answers a request once its caller is found.
    private func serve(
        _ call: TableCall, _ token: Token, _ request: Request, _ actor: Actor,
        as find: @escaping @Sendable () async -> CallerIdentification.Caller
    ) -> Answer {
        .later { reply in
            waiting.work.start {
                switch await find() {
                case .refused(let response): reply(response)
                case .tenant(let tenant, let confirmation):
                    let reply =
                        confirmation.map { confirmation in
                            reply.map { callers.withConfirmation($0, token, confirmation) }
                        } ?? reply
                    waiting.executor.run {
                        let worker = waiting.executor.worker
                        answer(call, in: tenant, actor, request, worker: worker).send(reply)
                    }
                case .unproven:
                    var forwarded = ForwardedRequest(
                        request: request, client: call.client, isOfTable: true)
                    // A row of selected columns may have no id.
                    if case .get(let id, let query) = call.verb, query.select == nil {
                        forwarded.itemID = id
                    }
                    passThrough.handle(forwarded).send(reply)
                }
            }
        }
    }

    /// Answers a request in a tenant.
    /// - Parameter worker: the number of the reader that belongs to the current thread.
    private func answer(
        _ call: TableCall, in tenant: Tenant, _ actor: Actor, _ original: Request, worker: Int
    ) -> Answer {
        let request = TableRequest(
            call, in: tenant, by: actor, original,
            headers: forwardedHeaders.pick(from: original.head.headerFields, worker: worker),
            worker: worker, now: callers.now)
        if case .list = call.verb, ClientChanges.areAsked(by: original, listOf: call.table) {
            let token = Token(request.fields, generation: call.generation)
            return .now(changes.follow(request, token, tenants, waiting.work))
        }
        if call.generation == .datasync, request.table.record?.idKind == .integer {
            return .now(
                request.error(
                    .untranslatable(
                        "The items of \(call.table) have integer ids, which clients of "
                            + "Datasync cannot read.")))
        }
        if call.verb.isWrite { tenant.use.note(call.table, now: tenants.clock.uptime()) }
        switch call.verb {
        case .list(let query): return reads.list(request, query)
        case .get(let id, _): return reads.get(request, id)
        case .insert(let body):
            if let id = body.id, let reason = id.reasonAgainstPaths {
                return .now(
                    request.error(
                        .badRequest(
                            "No request could name an item with the id '\(id)'. \(reason) "
                                + "Use another id.")))
            }
            return writes.write(request, .insert(body))
        case .update(let id, let body):
            let action: WriteAction =
                if let deleted = body.deleted { .patch(id, body.columns, deleted: deleted) } else {
                    .update(id, body.columns)
                }
            return writes.write(request, action, stated: body.stated)
        case .replace(let id, let body):
            let action: WriteAction =
                if body.deleted == true {
                    .patch(id, body.columns, deleted: true)
                } else if call.includeDeleted {
                    .restore(id, body.columns)
                } else {
                    .replace(id, body.columns)
                }
            return writes.write(request, action)
        case .delete(let id): return writes.write(request, .delete(id))
        case .undelete(let id): return writes.write(request, .undelete(id))
        }
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
