import HTTPTypes
import Logging
import TablesProtocol

/// One pull of one table: copies the backend's changes into the store, page by page.
///
/// 1. The plan begins a little before the pull token. Its pages are ordered by the time of change. If the
///    backend says that the token's time is yet to come, the plan begins with the first row.
/// 2. Before each request the count of push outcomes is read. A row whose push outcome is committed later
///    may be newer than the page, so the pull does not change it.
/// 3. The next page is requested while earlier ones are applied, unless many rows wait or clients use the
///    store.
/// 4. Received rows are applied in transactions of bounded size, each with the token that it reaches, so
///    that an interrupted pull continues from there. A transaction ends early if clients wait to write.
/// 5. Rows with local changes keep them. The backend's row is stored beside them.
/// 6. If a page is refused although the table can be listed, a simpler paging is tried.
/// 7. An element that cannot be applied is set aside (``UnusableRow``); the others are applied.
/// 8. If the backend no longer has deleted rows that were to come after the token, the pull begins anew and
///    compares all rows.
struct PullPass: Sendable {
    let store: Store
    let remote: Remote
    var request: PullRequest
    let pageRows: Int
    let cancel: CancelFlag
    let log: Logger
    /// Called after each transaction.
    let progress: @Sendable (PullReport) async -> Void
    /// Called before each page is requested. Not called if the pull compares all ids: an item that is
    /// pushed meanwhile may belong to a page that was already received.
    var beforePage: @Sendable () async -> Void = {}

    struct End: Sendable {
        var report: PullReport
        var stop: PushStop?
        /// A failure that is the table's, if a proof shows that the backend otherwise answers.
        var tableFailure: Prover.Failure?
        /// Whether rows came that pushes have replaced: the backend's copy lags behind.
        var isLagging = false
    }

    func run() async -> End {
        var state: PullState?
        do throws(StoreError) {
            var begun = try await begin()
            state = begun
            try await pullPages(&begun)
            if begun.report.error == nil, begun.plan.isAtEnd {
                begun.report.error = try await olderBackend(begun)
            }
            state = begun
            if let error = begun.report.error {
                if begun.isAboutTable(remote.credential), request.followed == nil {
                    try await noteFailure(error, canBeListed: begun.canBeListed)
                }
            } else if begun.plan.isAtEnd {
                state =
                    request.followed == nil
                    ? try await finish(begun) : try await finishFollowing(begun)
                try await retrySetAsideRows(since: begun.startedAt)
            }
        } catch {
            var report = state?.report ?? PullReport(table: request.table.text)
            report.error = error.description
            return End(report: report, stop: .store(error.description))
        }
        return End(
            report: state?.report ?? PullReport(table: request.table.text), stop: state?.stop,
            tableFailure: state?.tableFailure, isLagging: state?.isLagging ?? false)
    }

    private func begin() async throws(StoreError) -> PullState {
        let (request, uptime) = (request, remote.clock.uptime())
        let (record, token, change, now) = try await store.write { transaction in
            let record = try transaction.tables.table(request.table)
            let token = try record.map {
                try transaction.tokens.token($0, of: request)
            }
            return (record, token, try transaction.counters.changeCount(), transaction.now)
        }
        // A complete table whose token was reset is pulled from the beginning and compared, as after a
        // change of the backend: items that it does not have are removed.
        let isReset = record?.isComplete == true && token?.isComplete == false
        let mustCompare = isReset || record?.mustCompare == true
        let reconciles = request.keepsToken && (request.reconcile || request.isWhole && mustCompare)
        // A refused paging may have been a transient failure: a pull that compares everything tries keyset
        // paging again.
        let paging = reconciles ? nil : record?.paging
        let plan = PullPlan(
            idKind: record?.idKind ?? .string, paging: paging ?? .keyset,
            wanted: request.wanted,
            size: size(record, reconciles: reconciles),
            start: request.keepsToken && !reconciles ? token?.start : nil,
            collectsIDs: reconciles, isUnsorted: record?.isUnsorted ?? false)
        return PullState(
            table: record?.name ?? request.table, plan: plan,
            token: request.keepsToken ? token : nil, startedAt: now,
            startedUptime: uptime, begun: change,
            keepsToken: request.keepsToken)
    }

    /// The page size of the pull. One that compares everything tries the whole size again.
    private func size(_ record: TableRecord?, reconciles: Bool) -> RequestedRows {
        guard let record, !reconciles else { return RequestedRows(most: pageRows) }
        return RequestedRows(
            most: pageRows, accepted: record.acceptedRows, pullsToWait: record.largerPagesAfter)
    }

    /// What a task of the pull has finished with.
    private enum Event: Sendable {
        /// - change: the count of push outcomes when the page was requested.
        case answered(RemoteAnswer, change: Int64)
        case applied(AppliedPart)
        case failed(StoreError)
    }

    private func pullPages(_ state: inout PullState) async throws(StoreError) {
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
                // 1. Request the next page, unless enough rows wait to be applied. If clients use the
                //    store, request only when none wait: clients would wait for the concurrent work.
                let now = remote.clock.uptime()
                if store.takeUse() { state.lastUse = now }
                let isInUse = state.isInUse(at: now)
                let maxWaiting = isInUse ? 1 : SyncLimits.prefetchedRows
                let mayRequest = !isAsking && failure == nil && prefetcher.rows < maxWaiting
                if mayRequest { endIfNoPageMayFollow(&state) }
                if mayRequest, state.needsNextPage {
                    isAsking = true
                    var next = state.query
                    // A table's script may not know the form of a list with a count.
                    if request.followed != nil { next.query.count = false }
                    let (query, isComparison) = (next, state.plan.collectsIDs)
                    group.addTask {
                        if !isComparison { await beforePage() }
                        return await requestPage(query)
                    }
                }
                // 2. Apply received rows: as many as one transaction may take, fewer if clients use the
                //    store.
                if !isApplying, failure == nil, !prefetcher.isEmpty {
                    isApplying = true
                    let rows =
                        isInUse ? SyncLimits.applyRowsBesideClients : SyncLimits.applyRows
                    let (part, token) = (prefetcher.first(rows), state.token)
                    let (skipped, keeps) = (state.times.skipped, !state.lacksDeletions)
                    group.addTask {
                        await applyPart(part, token, skipped, advancesToken: keeps)
                    }
                }
                // 3. Handle what finishes first. With no task left the pages are done.
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

    /// Ends a pull that needs another page and was cancelled, or whose pages do not come to an end.
    private func endIfNoPageMayFollow(_ state: inout PullState) {
        guard state.needsNextPage else { return }
        if state.plan.links.leadsElsewhere {
            state.report.error =
                "The backend refuses to sort, and its link to the next page leads to another table."
        } else if cancel.isSet {
            state.stop = .cancelled
            state.report.error = "It was cancelled."
        } else if state.plan.isRepeating || state.report.requests >= SyncLimits.pullPages {
            state.report.error = "The backend's pages do not come to an end."
        }
    }

    private func requestPage(_ query: PageQuery) async -> Event {
        do throws(StoreError) {
            let change = try await store.read { try $0.counters.changeCount() }
            return .answered(await remote.list(request.table, query), change: change)
        } catch {
            return .failed(error)
        }
    }

    private func applyPart(
        _ part: [PagePrefetcher.Page], _ token: PullToken?, _ skipped: Instant?,
        advancesToken: Bool
    ) async -> Event {
        do throws(StoreError) {
            return .applied(
                try await apply(part, token, skipped: skipped, advancesToken: advancesToken))
        } catch {
            return .failed(error)
        }
    }

    /// Takes an answer into the plan.
    /// - Returns: the page of rows to apply; nil if there is none.
    private func take(
        _ answer: RemoteAnswer, _ state: inout PullState, asOf change: Int64
    ) async -> PagePrefetcher.Page? {
        state.report.requests += 1
        guard case .rows(let page) = answer else {
            await simplify(&state, answer)
            return nil
        }
        state.refusals = 0
        let isFirst = state.begunAt == nil
        state.begunAt = state.begunAt ?? page.sentAt ?? state.startedAt
        if isFirst { state.times.began = page.sentAt }
        state.times.ended = page.sentAt
        if isFirst, let now = page.sentAt, state.plan.begins(after: now) {
            // The backend's clock was ahead when the token advanced. What has changed since the clock was set
            // back has an earlier time.
            state.forgetToken()
            return nil
        }
        if state.comparesAll(after: page) { return nil }
        state.report.total = page.total ?? state.report.total
        let rows = state.plan.take(page)
        if request.followed != nil { state.followed.formUnion(rows.compactMap(\.itemID)) }
        state.report.received += rows.count
        if request.older == .areRefused { state.noteTimes(rows) }
        state.noteLatest(rows)
        return PagePrefetcher.Page(
            rows: rows, change: change, paging: state.plan.paging,
            isUnsorted: state.plan.isUnsorted, begunAt: state.begunAt, elapsed: elapsed(state))
    }

    /// The time since the pull's beginning. A machine that slept counts it on one of its clocks.
    func elapsed(_ state: PullState) -> Duration {
        let wall = remote.clock.now().milliseconds - state.startedAt.milliseconds
        return max(remote.clock.uptime() - state.startedUptime, .milliseconds(wall))
    }

    /// Handles a refused page: tries smaller pages or a simpler paging, if the table can be listed. If
    /// there is none, or the query is not the reason, the pull fails.
    private func simplify(_ state: inout PullState, _ answer: RemoteAnswer) async {
        var failure = Prover.failure(answer, request.table)
        failure.request = remote.failures.last(of: request.table)
        if answer.mayBeOfQuery, state.plan.paging.isLinked, state.plan.links.isSkip {
            state.refusals += 1
            if answer.mayRefuseOrder || state.refusals > 1 { state.plan.refuseSkip() }
            return
        }
        if state.plan.reducePageSize(after: answer) { return }
        let simpler = state.plan.simpler(isOfOrder: answer.mayRefuseOrder)
        if answer.mayBeOfQuery, let simpler, case .rows = await remote.list(request.table, .any) {
            // Real servers answer a filter that they cannot parse with 500, which may also be a transient
            // failure.
            state.refusals += 1
            state.canBeListed = true
            if state.refusals > 1 { state.plan.restart(paging: simpler) }
            return
        }
        state.report.error =
            state.canBeListed && answer.mayBeOfQuery
            ? "The backend gives the table's first page, and refuses every way to the others. \(failure.reason)"
            : failure.reason
        if failure.mayBeOfTable {
            // A table that could be listed has proven the backend, and is pulled at the next sync.
            if !(state.canBeListed && answer.mayBeOfQuery) { state.tableFailure = failure }
            return
        }
        switch failure.state {
        case .signedOut: state.stop = .signIn
        case .offline, .portal, .degraded: state.stop = .backend(failure)
        case .online, .notTables: break
        }
    }
}

extension RemoteAnswer {
    /// Whether the query may be the reason for a refusal, rather than the backend or a slow or torn
    /// connection.
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
