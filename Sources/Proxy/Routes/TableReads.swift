import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Reads: they run to their end on the server's thread, on the reader that it owns.
struct TableReads: Sendable {
    let tenants: TenantRegistry
    let longReads: LongReads
    let waiting: Waiting
    let repeatedLists = RepeatedLists()

    private var backend: BackendReads { BackendReads(longReads: longReads, waiting: waiting) }

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
    private func read(
        _ request: TableRequest, _ local: @escaping @Sendable (TableRequest) -> Answer
    ) -> Answer {
        let (tenant, now) = (request.tenant, tenants.clock.uptime())
        let isDue = request.table.isDue(at: now)
        if isDue { tenant.use.note(request.call.table, now: now) }
        guard let table = request.table.record, !table.pause.stopsPulls,
            request.status.mayPullForRead
        else { return local(request) }
        // A table that is not complete is pulled before its answer anyway.
        let called = table.isComplete ? tenant.use.awaitedPull(now: now) : nil
        let policy = tenant.store.readPolicy(of: request.table)
        // A list that is meant as a pull also shows what came after the call.
        let meant: (since: Duration, seconds: Int)?
        switch policy {
        case .revalidate where table.isComplete:
            meant = repeatedLists.awaitedPull(of: request, now: now).map {
                ($0, Limits.pullWaitSeconds)
            }
        case .remoteFirst where table.isComplete: meant = (now, Limits.backendWaitSeconds)
        case .standard, .local, .revalidate, .remoteFirst: meant = nil
        }
        if called != nil || meant != nil {
            let since = max(called?.since ?? .zero, meant?.since ?? .zero)
            let seconds = max(called?.seconds ?? 0, meant?.seconds ?? 0)
            return .later { reply in
                waiting.pull(request, since: since, seconds: seconds) { _, request in
                    local(request).send(reply)
                }
            }
        }
        let answer = local(request)
        if policy == .revalidate, isDue { tenant.engine.nudge(.read(request.call.table)) }
        return answer
    }

    func list(_ request: TableRequest, _ query: TableQuery) -> Answer {
        if let rows = query.top, rows > Limits.pageRowsMax, request.speaksAsNode(tenants) {
            return listOfMany(request, query, rows: rows)
        }
        return read(request) { listNow($0, query) }
    }

    /// Answers a list of more rows than Node servers give by default, as the one behind does. One that cannot be asked
    /// has the default.
    private func listOfMany(_ request: TableRequest, _ query: TableQuery, rows: Int) -> Answer {
        // Behind all rows there are none to transfer.
        var beyond = query
        beyond.skip = Limits.placeBeyondRows
        let target = ForwardedRead.Target.list(beyond, rows: rows)
        return waiting.later(request) { reply in
            switch request.status.mayAsk ? await request.ask(target) : nil {
            case .refused(let response, let reason, let spoken)?:
                reply(request.passed(response, reason, spoken: spoken))
            case .unreachable?, nil:
                let most = Limits.pageRowsMax
                reply(request.error(.badRequest("You cannot request more than \(most) records")))
            case .page?, .item?, .other?, .withoutRow?, .untranslatable?:
                waiting.readLater(request) { read($0) { listNow($0, query) }.send(reply) }
            }
        }
    }

    private func listNow(_ request: TableRequest, _ query: TableQuery) -> Answer {
        // A list in the backend's own order goes on at the backend alone.
        if query.next != nil {
            return backend.withCustomParameters(request, .list(query)) { $0.offline() }
        }
        if let beyond = query.beyond {
            return backend.withCustomParameters(request, .list(query)) {
                $0.refused(.onlyBackendAnswers(beyond.reason))
            }
        }
        if let pairs = request.pairs {
            // A list by such pairs may have rows beyond the part, which the store does not take.
            return request.table.record?.part != nil
                ? backend.listBeyondPart(request, query)
                : backend.listWithOwnPairs(request, query, pairs)
        }
        return answered(request.list(query), request, query)
    }

    private func answered(
        _ outcome: ListOutcome, _ request: TableRequest, _ query: TableQuery
    ) -> Answer {
        switch outcome {
        case .overBudget:
            return .later { reply in
                longReads.list(request, query, reply) { outcome, request in
                    switch outcome {
                    case .page, .partial, .beyondPart, .unknownTable:
                        answered(outcome, request, query).send(reply)
                    case .overBudget, .invalid, .failed: reply(request.finished(outcome))
                    }
                }
            }
        case .partial, .unknownTable:
            return backend.listPartialTable(request, query) { $0.finished(outcome) }
        case .beyondPart: return backend.listBeyondPart(request, query)
        case .page, .invalid, .failed: return .now(request.finished(outcome))
        }
    }

    func get(_ request: TableRequest, _ id: ItemID) -> Answer {
        read(request) { request in
            let includeDeleted = request.call.includeDeleted
            let outcome = request.tenant.store.get(
                request.table, id, includeDeleted: includeDeleted)
            switch outcome {
            case .unknownWhilePartial, .unknownTable:
                return backend.itemOfPartialTable(request, id)
            case .failed: return .now(request.finished(outcome, id))
            case .item, .missing, .gone:
                // The backend alone understands the query pairs of the client's own.
                guard !request.call.parameters.isEmpty, request.status.mayAsk else {
                    return .now(request.finished(outcome, id))
                }
                let target = ForwardedRead.Target.item(id, includeDeleted: includeDeleted)
                return backend.withCustomParameters(request, target) { $0.finished(outcome, id) }
            }
        }
    }
}
