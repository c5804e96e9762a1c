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

    func run() async -> PullEnd {
        var end = PullEnd(request.table)
        do throws(StoreError) {
            var pull = try await begin()
            defer { end = pull.end }
            try await pullPages(&pull)
            if pull.end.report.error == nil, pull.plan.isAtEnd {
                pull.end.report.error = try await olderBackend(pull)
            }
            if let error = pull.end.report.error {
                if pull.isAboutTable(remote.credential), request.followed == nil {
                    try await noteFailure(error, canBeListed: pull.canBeListed)
                }
            } else if pull.plan.isAtEnd {
                if request.followed == nil {
                    try await finish(&pull)
                } else {
                    try await finishFollowing(pull)
                }
                try await retrySetAsideRows(since: pull.startedAt)
            }
        } catch {
            end.fail(error)
        }
        return end
    }

    private func begin() async throws(StoreError) -> Pull {
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
        return Pull(
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

        init(_ event: () async throws(StoreError) -> Event) async {
            do throws(StoreError) { self = try await event() } catch { self = .failed(error) }
        }
    }

    private func pullPages(_ pull: inout Pull) async throws(StoreError) {
        do throws(ODataError) {
            _ = try pull.plan.next().text(for: remote.generation)
        } catch {
            pull.end.report.error = error.description
            return
        }
        var failure: StoreError?
        pull = await withTaskGroup(of: Event.self) { [pull] group in
            var pull = pull
            var prefetcher = PagePrefetcher()
            var isAsking = false
            var isApplying = false
            while true {
                // 1. Request the next page, unless enough rows wait to be applied. If clients use the
                //    store, request only when none wait: clients would wait for the concurrent work.
                let now = remote.clock.uptime()
                if store.takeUse() { pull.lastUse = now }
                let isInUse = pull.isInUse(at: now)
                let maxWaiting = isInUse ? 1 : SyncLimits.prefetchedRows
                let mayRequest = !isAsking && failure == nil && prefetcher.rows < maxWaiting
                if mayRequest { endIfNoPageMayFollow(&pull) }
                if mayRequest, pull.needsNextPage {
                    isAsking = true
                    var next = pull.query
                    // A table's script may not know the form of a list with a count.
                    if request.followed != nil { next.query.count = false }
                    let (query, isComparison) = (next, pull.plan.collectsIDs)
                    group.addTask {
                        if !isComparison { await beforePage() }
                        return await Event { () async throws(StoreError) in
                            let change = try await store.read { try $0.counters.changeCount() }
                            return .answered(
                                await remote.list(request.table, query), change: change)
                        }
                    }
                }
                // 2. Apply received rows: as many as one transaction may take, fewer if clients use the
                //    store.
                if !isApplying, failure == nil, !prefetcher.isEmpty {
                    isApplying = true
                    let rows =
                        isInUse ? SyncLimits.applyRowsBesideClients : SyncLimits.applyRows
                    let (part, token) = (prefetcher.first(rows), pull.token)
                    let (skipped, keeps) = (pull.times.skipped, !pull.lacksDeletions)
                    group.addTask {
                        await Event { () async throws(StoreError) in
                            .applied(
                                try await apply(
                                    part, token, skipped: skipped, advancesToken: keeps))
                        }
                    }
                }
                // 3. Handle what finishes first. With no task left the pages are done.
                guard let event = await group.next() else { break }
                switch event {
                case .answered(let answer, let change):
                    isAsking = false
                    if let page = await take(answer, &pull, asOf: change) {
                        prefetcher.append(page)
                    }
                case .applied(let part):
                    isApplying = false
                    prefetcher.drop(part.rows)
                    pull.take(part)
                    await progress(pull.end.report)
                case .failed(let error):
                    failure = failure ?? error
                    group.cancelAll()
                }
            }
            return pull
        }
        if let failure { throw failure }
    }

    /// Ends a pull that needs another page and was cancelled, or whose pages do not come to an end.
    private func endIfNoPageMayFollow(_ pull: inout Pull) {
        guard pull.needsNextPage else { return }
        if pull.plan.links.leadsElsewhere {
            pull.end.report.error =
                "The backend refuses to sort, and its link to the next page leads to another table."
        } else if cancel.isSet {
            pull.end.stop = .cancelled
            pull.end.report.error = "It was cancelled."
        } else if pull.plan.isRepeating || pull.end.report.requests >= SyncLimits.pullPages {
            pull.end.report.error = "The backend's pages do not come to an end."
        }
    }

    /// Takes an answer into the plan.
    /// - Returns: the page of rows to apply; nil if there is none.
    private func take(
        _ answer: RemoteAnswer, _ pull: inout Pull, asOf change: Int64
    ) async -> PagePrefetcher.Page? {
        pull.end.report.requests += 1
        guard case .rows(let page) = answer else {
            await simplify(&pull, answer)
            return nil
        }
        pull.refusals = 0
        let isFirst = pull.begunAt == nil
        pull.begunAt = pull.begunAt ?? page.sentAt ?? pull.startedAt
        if isFirst { pull.times.began = page.sentAt }
        pull.times.ended = page.sentAt
        if isFirst, let now = page.sentAt, pull.plan.begins(after: now) {
            // The backend's clock was ahead when the token advanced. What has changed since the clock was set
            // back has an earlier time.
            pull.forgetToken()
            return nil
        }
        if pull.comparesAll(after: page) { return nil }
        pull.end.report.total = page.total ?? pull.end.report.total
        let rows = pull.plan.take(page)
        if request.followed != nil { pull.followed.formUnion(rows.compactMap(\.itemID)) }
        pull.end.report.received += rows.count
        if request.older == .areRefused { pull.noteTimes(rows) }
        pull.noteLatest(rows)
        return PagePrefetcher.Page(
            rows: rows, change: change, paging: pull.plan.paging,
            isUnsorted: pull.plan.isUnsorted, begunAt: pull.begunAt, elapsed: elapsed(pull))
    }

    /// The time since the pull's beginning. A machine that slept counts it on one of its clocks.
    func elapsed(_ pull: Pull) -> Duration {
        let wall = remote.clock.now().milliseconds - pull.startedAt.milliseconds
        return max(remote.clock.uptime() - pull.startedUptime, .milliseconds(wall))
    }

    /// Handles a refused page: tries smaller pages or a simpler paging, if the table can be listed. If
    /// there is none, or the query is not the reason, the pull fails.
    private func simplify(_ pull: inout Pull, _ answer: RemoteAnswer) async {
        var failure = Prover.failure(answer, request.table)
        failure.request = remote.failures.last(of: request.table)
        if answer.mayBeOfQuery, pull.plan.paging.isLinked, pull.plan.links.isSkip {
            pull.refusals += 1
            if answer.mayRefuseOrder || pull.refusals > 1 { pull.plan.refuseSkip() }
            return
        }
        if pull.plan.reducePageSize(after: answer) { return }
        let simpler = pull.plan.simpler(isOfOrder: answer.mayRefuseOrder)
        if answer.mayBeOfQuery, let simpler, case .rows = await remote.list(request.table, .any) {
            // Real servers answer a filter that they cannot parse with 500, which may also be a transient
            // failure.
            pull.refusals += 1
            pull.canBeListed = true
            if pull.refusals > 1 { pull.plan.restart(paging: simpler) }
            return
        }
        pull.end.fail(failure)
        guard pull.canBeListed, answer.mayBeOfQuery else { return }
        // A table that could be listed has proven the backend, and is pulled at the next sync.
        pull.end.tableFailure = nil
        pull.end.report.error =
            "The backend gives the table's first page, and refuses every way to the others. \(failure.reason)"
    }
}
