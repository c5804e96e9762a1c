import HTTPTypes
import Logging
import TablesProtocol

/// One pull of one table: the backend's changes into the store, a page at a time.
///
/// 1. The plan begins a little before the token; its pages come in order of change.
/// 2. Before each request the count of push outcomes is noted: a row whose outcome is committed
///    after that may be newer here than in the answer, and is left alone.
/// 3. A page is applied in transactions of bounded size, each with the token that it reached, so
///    that a pull cut short goes on where it was. One ends early when clients wait to write.
/// 4. Rows with local changes keep them; the backend's row is laid beside them.
/// 5. A page refused while the table can be listed asks for a simpler way of paging.
struct PullPass: Sendable {
    let store: Store
    let remote: Remote
    let request: PullRequest
    let pageRows: Int
    let cancel: CancelFlag
    let log: Logger
    /// Told after each page.
    let progress: @Sendable (PullReport) async -> Void

    /// How a pull ended.
    struct End: Sendable {
        var report: PullReport
        var stop: PushStop?
    }

    /// What the pass keeps while it runs.
    private struct State {
        var report: PullReport
        var plan: PullPlan
        var token: PullToken?
        var seen: Set<ItemID> = []
        /// Ids are collected, and items that the backend no longer has are removed at the end.
        var reconciles: Bool
        /// Failures of the page under way.
        var refusals = 0
        /// The count of push outcomes when the pass began.
        var begun: Int64
        var stop: PushStop?

        /// A token is kept, by which the rows of the query are known.
        var keepsToken: Bool

        var collectsIDs: Bool { reconciles || plan.paging == .full && keepsToken }
    }

    /// What one transaction took of a page.
    private struct Applied {
        var rows = 0
        var counts = AppliedCounts()
        var token: PullToken?
    }

    /// Runs the pass.
    func run() async -> End {
        var state: State?
        do throws(StoreError) {
            var begun = try await begin()
            state = begun
            try await pages(&begun)
            state = begun
            if begun.plan.isAtEnd, begun.report.error == nil { state = try await finish(begun) }
        } catch {
            var report = state?.report ?? PullReport(table: request.table.text)
            report.error = error.description
            return End(report: report, stop: .store(error.description))
        }
        return End(
            report: state?.report ?? PullReport(table: request.table.text), stop: state?.stop)
    }

    private func begin() async throws(StoreError) -> State {
        let request = request
        let (record, token, change) = try await store.write { transaction in
            let record = try transaction.table(request.table)
            let token = try record.map {
                try transaction.token($0, of: request)
            }
            return (record, token, try transaction.changeCount())
        }
        // A complete table whose token was reset is pulled from the beginning, as after a change of
        // the backend: what is not there any more has to go.
        let isReset = record?.isComplete == true && token?.isComplete == false
        let reconciles = request.keepsToken && (request.reconcile || request.isWhole && isReset)
        let plan = PullPlan(
            idKind: record?.idKind ?? .string, paging: record?.paging ?? .keyset,
            wanted: request.query, pageRows: pageRows,
            token: request.keepsToken && !reconciles ? token?.updatedAt : nil)
        return State(
            report: PullReport(table: record?.name.text ?? request.table.text), plan: plan,
            token: request.keepsToken ? token : nil, reconciles: reconciles, begun: change,
            keepsToken: request.keepsToken)
    }

    private func pages(_ state: inout State) async throws(StoreError) {
        do throws(ODataError) {
            _ = try state.plan.next().text(for: remote.generation)
        } catch {
            state.report.error = error.description
            return
        }
        while !state.plan.isAtEnd {
            guard !cancel.isSet else {
                state.stop = .cancelled
                state.report.error = "It was cancelled."
                return
            }
            guard state.report.requests < SyncLimits.pullPages else {
                state.report.error = "The backend's pages do not come to an end."
                return
            }
            let change = try await store.read { try $0.changeCount() }
            var query = state.plan.next()
            // The first page asks how many there are in all; refused, it is asked for without.
            query.query.count = state.report.requests == 0
            let answer = await remote.list(request.table, query)
            state.report.requests += 1
            guard case .rows(let page) = answer else {
                if await !simplify(&state, answer) { return }
                continue
            }
            state.refusals = 0
            state.report.total = page.total ?? state.report.total
            let wasFull = state.plan.paging == .full
            state.plan.take(page)
            // The page that showed that rows have no times comes again, in another order.
            if state.plan.paging == .full, !wasFull { continue }
            try await apply(page, &state, asOf: change)
            await progress(state.report)
        }
    }

    /// After a page that was refused: goes over to a simpler way of paging when the table can be
    /// listed. False when there is none, or the fault is not the query's.
    private func simplify(_ state: inout State, _ answer: RemoteAnswer) async -> Bool {
        let failure = Prover.failure(answer, request.table)
        if answer.mayBeOfQuery, let simpler = state.plan.simpler,
            case .rows = await remote.list(request.table, .any)
        {
            // Real servers answer a filter that they cannot read with 500, which may also be chance.
            state.refusals += 1
            if state.refusals > 1 { state.plan.restart(paging: simpler) }
            return true
        }
        state.report.error = failure.reason
        switch failure.state {
        case .signedOut: state.stop = .signIn
        case .offline, .portal, .degraded: state.stop = .backend(failure)
        case .online, .notTables: break
        }
        return false
    }

    private func apply(
        _ page: RemotePage, _ state: inout State, asOf change: Int64
    ) async throws(StoreError) {
        state.report.received += page.rows.count
        if state.collectsIDs { state.seen.formUnion(page.rows.map(\.id)) }
        var rest = page.rows[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(SyncLimits.applyRows))
            let (request, plan, token) = (request, state.plan, state.token)
            let store = store
            await store.waitForShortLog()
            let applied = try await store.write(inBudget: true) { transaction in
                var record = try transaction.tableForRows(request.table, part)
                var applied = Applied()
                for row in part {
                    applied.counts.add(try transaction.apply(row, to: record, asOf: change))
                    applied.rows += 1
                    if applied.rows >= SyncLimits.applyRowsBesideWrites, store.hasWaitingWrites {
                        break
                    }
                }
                let rows = part.prefix(applied.rows)
                if applied.counts.applied + applied.counts.deleted > 0 {
                    transaction.emit(.item, table: record.name)
                }
                if record.paging != plan.paging {
                    record.paging = plan.paging
                    try transaction.save(record)
                }
                guard request.keepsToken else { return applied }
                var moved = try token ?? transaction.token(record, of: request)
                if !request.isWhole { try transaction.note(rows, of: moved) }
                applied.token = moved
                guard plan.paging != .full else { return applied }
                moved.advance(to: rows)
                try transaction.save(moved)
                applied.token = moved
                return applied
            }
            rest = rest.dropFirst(applied.rows)
            state.token = applied.token ?? state.token
            state.report.add(applied.counts)
        }
    }

    /// The whole answer is here: the table is complete, and what the backend no longer has goes.
    private func finish(_ state: State) async throws(StoreError) -> State {
        var state = state
        let (request, seen, begun, plan) = (request, state.seen, state.begun, state.plan)
        let removes = state.collectsIDs
        let token = state.token
        let hasIntegerIDs = await assignsIDs(state)
        state.report.deleted += try await store.write { transaction in
            var record =
                try transaction.table(request.table) ?? transaction.makeTable(request.table)
            if hasIntegerIDs { try transaction.adoptIntegerIDs(&record) }
            var removed = 0
            if request.isWhole {
                if removes {
                    removed = try transaction.removeUnseen(seen, from: record, asOf: begun)
                }
                record.isComplete = true
            }
            if request.keepsToken {
                var token = try token ?? transaction.token(record, of: request)
                if removes, !request.isWhole {
                    removed = try transaction.removeLeft(seen, token, from: record, asOf: begun)
                }
                token.isComplete = true
                token.lastRunAt = transaction.now
                try transaction.save(token)
            }
            record.lastPullAt = transaction.now
            record.warning =
                plan.hasUntimedRows
                ? "The backend's rows have no updatedAt: every pull takes the whole table." : nil
            try transaction.save(record)
            return removed
        }
        return state
    }
}

extension PullPass {
    /// Whether a table without rows is one whose ids the backend assigns: there, first generation
    /// servers refuse an id that is no number, while others have no such item.
    private func assignsIDs(_ state: State) async -> Bool {
        guard remote.generation == .mobileServices, request.isWhole, state.report.received == 0,
            state.token?.isComplete != true
        else { return false }
        let probe = RemoteRequest(
            method: .get, target: "/tables/\(request.table.text)/understudy")
        guard case .rejected(status: 400, _) = await remote.send(probe, asList: false).answer else {
            return false
        }
        return true
    }
}

extension RemoteAnswer {
    /// Whether the query may be at fault rather than the backend or the way to it.
    var mayBeOfQuery: Bool {
        switch self {
        case .rejected, .failed, .unusable: true
        case .row, .rows, .empty, .conflict, .missing, .unauthorized, .unavailable, .unreachable:
            false
        }
    }
}
