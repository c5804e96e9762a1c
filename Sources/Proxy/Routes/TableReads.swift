import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Reads: they run to their end on the server's thread, on the reader that it owns.
extension TablesRoutes {
    /// Answers a read by the table's policy.
    ///
    /// - `local`: from the store.
    /// - `revalidate`: from the store; then the table is pulled. A list that is meant as a pull, or asked for again,
    ///   waits for that pull.
    /// - `remote-first`: the table is pulled first, then the answer is from the store, with the client's own
    ///   changes.
    ///
    /// After a custom API was called, reads of any policy wait for a pull. If the backend cannot be reached or is too
    /// slow, or the table is paused, the answer is only from the store.
    func read(
        _ context: RequestContext, _ local: @escaping @Sendable (RequestContext) -> Answer
    ) -> Answer {
        let (tenant, now) = (context.tenant, tenants.clock.uptime())
        let isDue = context.table.settings?.isDue(at: now) ?? true
        if isDue { tenant.use.note(context.call.table, now: now) }
        guard let table = context.table.settings, !table.pause.stopsPulls,
            tenant.backendStatus.mayPullForRead
        else { return local(context) }
        // A table that is not complete is pulled before its answer anyway.
        let called = table.isComplete ? tenant.use.awaitedPull(now: now) : nil
        let policy = context.table.readPolicy
        // A list that is meant as a pull also shows what came after the call.
        let meant: (since: Duration, seconds: Int)?
        switch policy {
        case .revalidate where table.isComplete:
            meant = awaitedPull(of: context, now: now).map { ($0, Limits.pullWaitSeconds) }
        case .remoteFirst where table.isComplete: meant = (now, Limits.backendWaitSeconds)
        case .standard, .local, .revalidate, .remoteFirst: meant = nil
        }
        if called != nil || meant != nil {
            return afterPull(
                context, since: max(called?.since ?? .zero, meant?.since ?? .zero),
                seconds: max(called?.seconds ?? 0, meant?.seconds ?? 0), local)
        }
        let answer = local(context)
        if policy == .revalidate, isDue { tenant.engine.nudge(.read(context.call.table)) }
        return answer
    }

    private func afterPull(
        _ context: RequestContext, since time: Duration, seconds: Int,
        _ local: @escaping @Sendable (RequestContext) -> Answer
    ) -> Answer {
        .later { reply in
            pull(context, since: time, seconds: seconds) { _, context in local(context).send(reply)
            }
        }
    }

    /// Pulls the request's table, and calls `then` in the blocking executor, with false if that takes too long. The
    /// pull goes on after that.
    /// - Parameter time: since when the pull must have begun; nil for any that is not over.
    func pull(
        _ context: RequestContext, since time: Duration? = nil,
        seconds: Int = Limits.backendWaitSeconds,
        then: @escaping @Sendable (Bool, RequestContext) -> Void
    ) {
        let once = OnceFlag()
        let end: @Sendable (Bool) -> Void = { isOver in
            if once.claim() { readLater(context) { then(isOver, $0) } }
        }
        work.start {
            await TimeOut.run(seconds: seconds) {
                end(false)
            } work: {
                let (engine, table) = (context.tenant.engine, context.call.table)
                if let time {
                    await engine.refresh(table, since: time)
                } else {
                    _ = await engine.pull(table, isExplicit: false)
                }
                // The answer shows the backend's state after the pull.
                await context.tenant.refreshBackendStatus()
                end(true)
            }
        }
    }

    /// Whether a client is answered as by its own server, which is one of Node: both are of the second generation.
    func speaksAsNode(_ context: RequestContext) -> Bool {
        let server = context.tenant.engine.knownServer ?? tenants.anonymous.engine.knownServer
        return server?.hasPrefix("node-") == true && context.call.generation == .mobileApps
    }

    /// Answers a list of more rows than Node servers give by default, as the one behind does. One that cannot be asked
    /// has the default.
    func listOfMany(_ context: RequestContext, _ query: TableQuery, rows: Int) -> Answer {
        // Behind all rows there are none to transfer.
        var beyond = query
        beyond.skip = Limits.placeBeyondRows
        let target = ForwardedRead.Target.list(beyond, rows: rows)
        return later(context) { context, reply in
            let mayAsk = context.tenant.backendStatus.mayAsk
            switch mayAsk ? await askBackend(context, target) : nil {
            case .refused(let response, let reason, let spoken)?:
                reply(passed(response, reason, spoken: spoken, context))
            case .unreachable?, nil:
                let most = Limits.pageRowsMax
                reply(context.error(.badRequest("You cannot request more than \(most) records")))
            case .page?, .item?, .other?, .withoutRow?, .untranslatable?:
                readLater(context) { read($0) { list($0, query) }.send(reply) }
            }
        }
    }

    func list(_ context: RequestContext, _ query: TableQuery) -> Answer {
        // A list in the backend's own order goes on at the backend alone.
        if query.next != nil {
            return readWithCustomParameters(context, .list(query, rows: rowLimit(query))) {
                offlineAnswer($0, nil)
            }
        }
        if let beyond = query.beyond {
            return readWithCustomParameters(context, .list(query, rows: rowLimit(query))) {
                annotated($0.error(.onlyBackendAnswers(beyond.reason)), $0)
            }
        }
        if let pairs = context.pairs {
            // A list by such pairs may have rows beyond the part, which the store does not take.
            if context.table.settings?.isInPart == true { return listBeyondPart(context, query) }
            return listWithOwnPairs(context, query, pairs)
        }
        return answered(listed(context, query), context, query)
    }

    /// The store's list, with the short budget.
    /// - Parameter beyondPart: whether a list beyond the part of a table gives what is here.
    func listed(
        _ context: RequestContext, _ query: TableQuery, beyondPart: Bool = false
    ) -> ListOutcome {
        context.tenant.store.list(
            context.table, query, generation: context.call.generation, within: context.pairs,
            beyondPart: beyondPart)
    }

    private func answered(
        _ outcome: ListOutcome, _ context: RequestContext, _ query: TableQuery
    ) -> Answer {
        switch outcome {
        case .overBudget:
            return .later { reply in
                listLong(context, query, reply) { outcome, context in
                    switch outcome {
                    case .page, .partial, .beyondPart, .unknownTable:
                        answered(outcome, context, query).send(reply)
                    case .overBudget, .invalid, .failed: reply(finished(outcome, context))
                    }
                }
            }
        case .partial, .unknownTable:
            return listPartialTable(context, query) { finished(outcome, $0) }
        case .beyondPart: return listBeyondPart(context, query)
        case .page, .invalid, .failed: return .now(finished(outcome, context))
        }
    }

    /// Lists on the calling thread with the short budget; a list that goes over it runs when it is the
    /// client's turn.
    /// - Parameter beyondPart: whether a list beyond the part of a table gives what is here.
    func listOffServer(
        _ context: RequestContext, _ query: TableQuery, beyondPart: Bool = false, _ reply: Reply,
        then: @escaping @Sendable (ListOutcome, RequestContext) -> Void
    ) {
        let outcome = listed(context, query, beyondPart: beyondPart)
        guard case .overBudget = outcome else { return then(outcome, context) }
        listLong(context, query, beyondPart: beyondPart, reply, then: then)
    }

    /// Lists without the short budget, when it is the client's turn, for as long as the client waits.
    /// - Parameter then: gets the outcome on the lane's thread, with the context there.
    private func listLong(
        _ context: RequestContext, _ query: TableQuery, beyondPart: Bool = false, _ reply: Reply,
        then: @escaping @Sendable (ListOutcome, RequestContext) -> Void
    ) {
        let client = LongReads.Client(identity: context.tenant.identity, actor: context.actor)
        let isTaken = longReads.run(for: client, clientHasLeft: { reply.clientHasLeft }) { reader in
            let left = TablesError.unavailable(
                LongReads.clientLeft, retryAfterSeconds: Limits.longReadRetrySeconds)
            guard let reader else { return reply(context.error(left)) }
            let context = context.moved(to: reader)
            let outcome = context.tenant.store.listUnhurried(
                context.table, query, generation: context.call.generation,
                within: context.pairs, beyondPart: beyondPart,
                isAbandoned: { reply.clientHasLeft })
            guard !reply.clientHasLeft else { return reply(context.error(left)) }
            then(outcome, context)
        }
        guard !isTaken else { return }
        reply(
            context.error(
                .unavailable(
                    LongReads.tooMany, retryAfterSeconds: Limits.longReadRetrySeconds)))
    }

    /// The answer that an outcome becomes. What is incomplete while the backend is away says so, and is no
    /// answer where it is empty: only the backend can say that there are no such rows.
    func finished(_ outcome: ListOutcome, _ context: RequestContext) -> Response {
        switch outcome {
        case .page(let page): return listed(page, context, isComplete: true)
        case .partial(let page) where page.items.isEmpty && !mayContinuePage(context):
            return offlineAnswer(context, nil)
        case .partial(let page): return listed(page, context, isComplete: false)
        // An empty list would be an answer that only the backend can give.
        case .unknownTable, .beyondPart: return offlineAnswer(context, nil)
        case .invalid(let error): return context.error(.badQuery(error))
        case .overBudget:
            return context.error(.badRequest(LongReads.tooMuch))
        case .failed(let error): return context.error(Self.failure(error))
        }
    }

    /// Whether a list may go on from an earlier page; then an empty one says that there are no more rows.
    private func mayContinuePage(_ context: RequestContext) -> Bool {
        guard case .list(let query) = context.call.verb else { return false }
        return query.mayContinuePage
    }

    private func listed(_ page: ItemPage, _ context: RequestContext, isComplete: Bool) -> Response {
        var response = annotated(context.answer.render(page: page), context, hasAge: true)
        if !isComplete { response.head.headerFields[.understudyComplete] = "no" }
        return response
    }

    /// What a client is told when the store failed: to come again where the file could not be opened, since
    /// the system may give files again.
    private static func failure(_ error: StoreError) -> TablesError {
        switch error {
        case .cannotOpen(let sentence):
            .unavailable(sentence, retryAfterSeconds: Limits.retryAfterSeconds)
        case .otherVersion(let sentence), .damaged(let sentence), .full(let sentence),
            .overBudget(let sentence), .readOnly(let sentence), .failed(let sentence):
            .failed(sentence)
        }
    }

    func get(_ context: RequestContext, _ id: ItemID) -> Answer {
        let outcome = found(context, id)
        switch outcome {
        case .unknownWhilePartial, .unknownTable: return itemOfPartialTable(context, id)
        case .item, .missing, .gone:
            guard hasCustomParameters(context) else { return .now(finished(outcome, context, id)) }
            let target = ForwardedRead.Target.item(id, includeDeleted: context.call.includeDeleted)
            return readWithCustomParameters(context, target) { finished(outcome, $0, id) }
        case .failed: return .now(finished(outcome, context, id))
        }
    }

    private func found(_ context: RequestContext, _ id: ItemID) -> GetOutcome {
        context.tenant.store.get(
            context.table, id, includeDeleted: context.call.includeDeleted)
    }

    private func finished(_ outcome: GetOutcome, _ context: RequestContext, _ id: ItemID)
        -> Response
    {
        switch outcome {
        case .item(let item, let state):
            let other =
                context.call.conditions.isEmpty
                ? nil
                : context.tenant.store.backendVersion(context.table, id)
            return annotated(
                context.answer.render(item: item, backendVersion: other), context, hasAge: true,
                state: state)
        case .missing: return annotated(context.error(.notFound(id)), context)
        case .gone: return annotated(context.error(.gone(id)), context)
        case .unknownTable, .unknownWhilePartial: return offlineAnswer(context, nil)
        case .failed(let error): return context.error(Self.failure(error))
        }
    }

    func stillPulling(_ context: RequestContext) -> Response {
        annotated(
            context.error(
                .unavailable(
                    "The table \(context.call.table) is still being pulled for the first time.",
                    retryAfterSeconds: Limits.firstPullSeconds)), context)
    }
}

// Lists beyond the part of a table that is copied in part. The store cannot answer them.
extension TablesRoutes {
    /// Answers a list that is not within the part of its table.
    ///
    /// 1. It is the backend's while it answers. Changes of the client's own that wait are sent first. Those that
    ///    still wait are in the rows of the answer, which says that it is incomplete, since an insert may be
    ///    missing.
    /// 2. A client that syncs goes on from the times that it got. With this list they are always the
    ///    backend's, because only there are all the rows; so without the backend the answer is 503, and
    ///    the rows are as the backend gives them.
    /// 3. For other lists without the backend: what is here, marked as incomplete; 503 where nothing is.
    func listBeyondPart(_ context: RequestContext, _ query: TableQuery) -> Answer {
        let backendStatus = context.tenant.backendStatus
        return later(context) { context, reply in
            // A link of the store, from before the table was copied in part: its time is not the backend's.
            guard backendStatus.mayAsk, query.after == nil else {
                return await listHere(context, query, nil, reply)
            }
            guard backendStatus.mayPullForRead, await hasOpenChanges(context) else {
                return await listThere(context, query, reply)
            }
            let once = OnceFlag()
            await TimeOut.run(seconds: Limits.backendWaitSeconds) {
                if once.claim() { work.start { await listThere(context, query, reply) } }
            } work: {
                _ = await context.tenant.engine.push(isExplicit: false)
                if once.claim() { await listThere(context, query, reply) }
            }
        }
    }

    private func listThere(
        _ context: RequestContext, _ query: TableQuery, _ reply: Reply
    ) async {
        switch await askBackend(context, .list(query, rows: rowLimit(query))) {
        case .page(let page) where query.isSyncQuery:
            reply(annotated(context.answer.render(page: page), context))
        case .page(var page):
            let waiting = try? await context.tenant.store.waitingChanges(
                of: page.items.map(\.id), in: context.call.table)
            page.items = page.items.compactMap { item in
                guard let mine = waiting?.items[item.id] else { return item }
                return mine.deleted && !query.includeDeleted ? nil : mine
            }
            var response = annotated(context.answer.render(page: page), context)
            if waiting?.areSome == true { response.head.headerFields[.understudyComplete] = "no" }
            reply(response)
        case .refused(let response, let reason, let spoken):
            reply(passed(response, reason, spoken: spoken, context))
        case .other(let response): reply(passed(response, context))
        case .unreachable(_, let wait): await listHere(context, query, wait, reply)
        case .item, .withoutRow, .untranslatable: await listHere(context, query, nil, reply)
        }
    }

    private func listHere(
        _ context: RequestContext, _ query: TableQuery, _ wait: Duration?, _ reply: Reply
    ) async {
        if query.isSyncQuery || query.after != nil { return reply(offlineAnswer(context, wait)) }
        readLater(context) { context in
            listOffServer(context, query, beyondPart: true, reply) { outcome, context in
                reply(finished(outcome.asPart, context))
            }
        }
    }
}

/// A time limit for a client that waits for work. The work goes on without the client.
enum TimeOut {
    /// Runs `work` to its end. If that takes longer than `seconds`, calls `late` meanwhile.
    static func run(
        seconds: Int, late: @escaping @Sendable () -> Void, work: () async -> Void
    ) async {
        await run(.seconds(seconds), late: late, work: work)
    }

    static func run(
        _ limit: Duration, late: @escaping @Sendable () -> Void, work: () async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                late()
            }
            await work()
            group.cancelAll()
        }
    }
}
