import HTTPTypes
import Logging
import TablesProtocol

/// One pull of one table: the backend's changes into the store, a page at a time.
///
/// 1. The plan begins a little before the token; its pages come in order of change.
/// 2. Before each request the count of push outcomes is noted: a row whose outcome is committed
///    after that may be newer here than in the answer, and is left alone.
/// 3. The next page is asked for while those before it are applied, unless many rows wait already or
///    clients are at work.
/// 4. What waits is applied in transactions of bounded size, each with the token that it reached, so
///    that a pull cut short goes on where it was. One ends early when clients wait to write.
/// 5. Rows with local changes keep them; the backend's row is laid beside them.
/// 6. A page refused while the table can be listed asks for a simpler way of paging.
/// 7. An element that cannot be taken is set aside; those around it are applied (``OddRow``).
struct PullPass: Sendable {
    let store: Store
    let remote: Remote
    let request: PullRequest
    let pageRows: Int
    let cancel: CancelFlag
    let log: Logger
    /// Told after each transaction.
    let progress: @Sendable (PullReport) async -> Void
    /// Done before each page is asked for. Not where everything is compared: what is sent meanwhile may
    /// belong to a page that came already.
    var beforePage: @Sendable () async -> Void = {}

    /// How a pull ended.
    struct End: Sendable {
        var report: PullReport
        var stop: PushStop?
    }

    /// Runs the pass.
    func run() async -> End {
        var state: PullState?
        do throws(StoreError) {
            var begun = try await begin()
            state = begun
            try await pages(&begun)
            state = begun
            if let error = begun.report.error {
                if begun.stop == nil { try await noteFailure(error) }
                if store.has(.failedPullCompletes) { state = try await finish(begun) }
            } else if begun.plan.isAtEnd {
                state = try await finish(begun)
                try await askForSetAside(since: begun.startedAt)
            }
        } catch {
            var report = state?.report ?? PullReport(table: request.table.text)
            report.error = error.description
            return End(report: report, stop: .store(error.description))
        }
        return End(
            report: state?.report ?? PullReport(table: request.table.text), stop: state?.stop)
    }

    private func begin() async throws(StoreError) -> PullState {
        let request = request
        let (record, token, change, now) = try await store.write { transaction in
            let record = try transaction.tables.table(request.table)
            let token = try record.map {
                try transaction.tokens.token($0, of: request)
            }
            return (record, token, try transaction.counters.changeCount(), transaction.now)
        }
        // A complete table whose token was reset is pulled from the beginning, as after a change of
        // the backend: what is not there any more has to go.
        let isReset = record?.isComplete == true && token?.isComplete == false
        let reconciles = request.keepsToken && (request.reconcile || request.isWhole && isReset)
        // What was refused once may have been chance: a pull that compares everything asks anew.
        let paging = reconciles ? nil : record?.paging
        let plan = PullPlan(
            idKind: record?.idKind ?? .string, paging: paging ?? .keyset,
            wanted: request.query,
            pageRows: min(pageRows, reconciles ? pageRows : record?.pageRows ?? pageRows),
            token: request.keepsToken && !reconciles ? token?.updatedAt : nil,
            collectsIDs: reconciles)
        return PullState(
            report: PullReport(table: record?.name.text ?? request.table.text), plan: plan,
            token: request.keepsToken ? token : nil, startedAt: now, begun: change,
            keepsToken: request.keepsToken)
    }

    /// What was under way has come to an end.
    private enum Event: Sendable {
        /// - change: the count of push outcomes when the page was asked for.
        case answered(RemoteAnswer, change: Int64)
        case applied(AppliedPart)
        case failed(StoreError)
    }

    private func pages(_ state: inout PullState) async throws(StoreError) {
        do throws(ODataError) {
            _ = try state.plan.next().text(for: remote.generation)
        } catch {
            state.report.error = error.description
            return
        }
        var failure: StoreError?
        state = await withTaskGroup(of: Event.self) { [state] group in
            var state = state
            var prefetcher = PagePrefetcher()
            var isAsking = false
            var isApplying = false
            while true {
                // 1. Ask for the next page, unless enough rows wait to be applied; where clients are
                //    at work, unless any do: what is done side by side they would wait for.
                let isInUse = isInUse(&state)
                let room = isInUse ? 1 : SyncLimits.prefetchedRows
                if !isAsking, failure == nil, prefetcher.rows < room, goesOn(&state) {
                    isAsking = true
                    let (query, isComparison) = (state.query, state.plan.collectsIDs)
                    group.addTask {
                        if !isComparison { await beforePage() }
                        return await ask(query)
                    }
                }
                // 2. Apply what waits, as much as one transaction may take; clients wait for less.
                if !isApplying, failure == nil, !prefetcher.isEmpty {
                    isApplying = true
                    let rows =
                        isInUse ? SyncLimits.applyRowsBesideClients : SyncLimits.applyRows
                    let (part, token) = (prefetcher.first(rows), state.token)
                    group.addTask { await applied(part, token) }
                }
                // 3. Take what ends first; with nothing under way the pages are through.
                guard let event = await group.next() else { break }
                switch event {
                case .answered(let answer, let change):
                    isAsking = false
                    if let page = await take(answer, &state, asOf: change) {
                        prefetcher.append(page)
                    }
                case .applied(let part):
                    isApplying = false
                    prefetcher.drop(part.rows)
                    state.take(part)
                    await progress(state.report)
                case .failed(let error):
                    failure = failure ?? error
                    group.cancelAll()
                }
            }
            return state
        }
        if let failure { throw failure }
    }

    /// Whether clients have read or written within the last moment.
    private func isInUse(_ state: inout PullState) -> Bool {
        let now = remote.clock.uptime()
        if store.takeUse() { state.lastUse = now }
        let rest = Duration.milliseconds(SyncLimits.restBesideClientsMilliseconds)
        return state.lastUse.map { now - $0 < rest } ?? false
    }

    /// Whether another page is to be asked for.
    private func goesOn(_ state: inout PullState) -> Bool {
        guard !state.plan.isAtEnd, state.report.error == nil else { return false }
        if cancel.isSet {
            state.stop = .cancelled
            state.report.error = "It was cancelled."
        } else if state.plan.isInCircles || state.report.requests >= SyncLimits.pullPages {
            state.report.error = "The backend's pages do not come to an end."
        }
        return state.report.error == nil
    }

    private func ask(_ query: PageQuery) async -> Event {
        do throws(StoreError) {
            let change = try await store.read { try $0.counters.changeCount() }
            return .answered(await remote.list(request.table, query), change: change)
        } catch {
            return .failed(error)
        }
    }

    private func applied(_ part: [PagePrefetcher.Page], _ token: PullToken?) async -> Event {
        do throws(StoreError) {
            return .applied(try await apply(part, token))
        } catch {
            return .failed(error)
        }
    }

    /// Takes an answer in; gives its rows where there are any to apply.
    private func take(
        _ answer: RemoteAnswer, _ state: inout PullState, asOf change: Int64
    ) async -> PagePrefetcher.Page? {
        state.report.requests += 1
        guard case .rows(let page) = answer else {
            await simplify(&state, answer)
            return nil
        }
        state.refusals = 0
        if store.has(.oddRowStopsPull), page.elements.contains(where: { $0.row == nil }) {
            state.report.error = "planted"
            return nil
        }
        state.report.total = page.total ?? state.report.total
        let rows = state.plan.take(page)
        state.report.received += rows.count
        return PagePrefetcher.Page(rows: rows, change: change, paging: state.plan.paging)
    }

    /// After a page that was refused: goes over to a simpler way of paging when the table can be
    /// listed. Where there is none, or the fault is not the query's, it is an error.
    private func simplify(_ state: inout PullState, _ answer: RemoteAnswer) async {
        let failure = Prover.failure(answer, request.table)
        if answer.mayBeOfPageSize, state.plan.askForLess() { return }
        if answer.mayBeOfQuery, let simpler = state.plan.simpler,
            case .rows = await remote.list(request.table, .any)
        {
            // Real servers answer a filter that they cannot read with 500, which may also be chance.
            state.refusals += 1
            if state.refusals > 1 { state.plan.restart(paging: simpler) }
            return
        }
        state.report.error = failure.reason
        switch failure.state {
        case .signedOut: state.stop = .signIn
        case .offline, .portal, .degraded: state.stop = .backend(failure)
        case .online, .notTables: break
        }
    }
}

extension RemoteAnswer {
    /// Whether the backend may give fewer rows in a page than it was asked for.
    var mayBeOfPageSize: Bool {
        switch self {
        case .rejected(status: 400, _), .unusable(status: 400, _): true
        default: false
        }
    }

    /// Whether the query may be at fault rather than the backend or the way to it, where answers are
    /// late or torn.
    var mayBeOfQuery: Bool {
        switch self {
        case .rejected: true
        case .failed(let status, _): status != 408
        case .unusable(let status, _): status >= 400
        case .row, .rows, .empty, .conflict, .missing, .unauthorized, .unavailable, .unreachable:
            false
        }
    }
}
