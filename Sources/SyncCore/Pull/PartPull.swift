import Storage
import TablesProtocol

/// One pull of a table that is copied in part (``TablePart``).
///
/// A row that no longer fits the filter is in no list with that filter, so it is found in three steps:
///
/// 1. The ids of all rows that changed since the last pull are listed, without the filter. Those that the
///    store has are in doubt (``PartDoubts``).
/// 2. The part is pulled. The rows that come are in it, and in doubt no longer.
/// 3. The backend is asked for the others by the filter and their ids. An item that it does not give has left:
///    it is removed, and leaves a tombstone for clients that sync.
///
/// The backend decides, since servers differ in their rules for null and text. Only an empty list proves that
/// items have left: a page may be cut, and a list with other rows has ignored the filter. Where the first
/// step is not possible, the whole part is pulled and compared.
struct PartPull: Sendable {
    private var pass: PullPass
    private var store: Store { pass.store }
    private var name: TableName { pass.request.table }

    init(_ pass: PullPass) { self.pass = pass }

    func run() async -> PullEnd {
        var pass = pass
        var requests = 0
        do throws(StoreError) {
            if try await !noteChanges(&requests) { pass.request.reconcile = true }
            var end = await pass.run()
            end.report.requests += requests
            if end.report.error == nil, end.stop == nil, !pass.cancel.isSet {
                var asked = AskedItems(pass: pass, end: end)
                try await asked.askDoubts()
                end = asked.end
            }
            return end
        } catch {
            var end = PullEnd(name)
            end.fail(error)
            return end
        }
    }

    // MARK: 1. What has changed

    /// What is known before the ids are listed.
    private struct Known: Sendable {
        var table: TableRecord
        var token: PullToken
        var at: Instant
    }

    /// Notes the items whose rows have changed since the last pull.
    /// - Returns: false if that is not known, so that the pull must compare.
    private func noteChanges(_ requests: inout Int) async throws(StoreError) -> Bool {
        let name = name
        let known = try await store.write { transaction -> Known? in
            // Such a table is compared at each pull.
            guard let table = try transaction.tables.table(name), !table.paging.isWhole else {
                return nil
            }
            return Known(
                table: table, token: try transaction.tokens.ofChanges(table), at: transaction.now)
        }
        guard let known else { return true }
        guard known.table.paging.isByTime else { return false }
        guard known.token.updatedAt != nil else { return try await begin(&requests) }
        return try await list(known, &requests)
    }

    /// Notes the time of the backend's latest row, from which the next pull lists the changes.
    private func begin(_ requests: inout Int) async throws(StoreError) -> Bool {
        let name = name
        requests += 1
        let latest = TableQuery(
            orderBy: [Ordering(.column(.system(.updatedAt)), descending: true)], top: 1,
            includeDeleted: true)
        let answer = await pass.remote.list(name, PageQuery(latest))
        guard case .rows(let page) = answer else { return !answer.mayBeOfQuery }
        var text = page.elements.first?.updatedAt
        if let sent = page.sentAt, let time = text.flatMap({ Instant(iso: $0) }), time > sent {
            // What changes until that time has an earlier one.
            text = sent.text
        }
        let since = text
        return try await store.write { transaction in
            guard var table = try transaction.tables.table(name) else { return true }
            var token = try transaction.tokens.ofChanges(table)
            token.updatedAt = since
            token.deletionsAfter = page.deletionsAfter ?? token.deletionsAfter
            (token.isComplete, token.isSettled, token.seenAt) = (false, false, nil)
            try transaction.tokens.save(token)
            let items = try transaction.integer(
                "SELECT live_items FROM table_counters WHERE table_id = ?", [table.id])
            guard items ?? 0 > 0 else { return true }
            // Kept, since this pull may be interrupted.
            table.mustCompare = true
            try transaction.tables.save(table)
            return true
        }
    }

    /// Lists what has changed, page by page.
    private func list(
        _ known: Known, _ requests: inout Int
    ) async throws(StoreError) -> Bool {
        let name = name
        let clock = pass.remote.clock
        let began = clock.uptime()
        var plan = PullPlan(
            idKind: known.table.idKind, paging: known.table.paging, wanted: PullQuery(),
            size: RequestedRows(
                most: pass.pageRows, accepted: known.table.acceptedRows,
                pullsToWait: known.table.largerPagesAfter),
            start: known.token.start)
        var (selects, times) = (true, PullTimes())
        while !plan.isAtEnd {
            guard !pass.cancel.isSet else { return true }
            guard requests < SyncLimits.pullPages, !plan.isRepeating, plan.paging.isByTime else {
                return false
            }
            await pass.beforePage()
            var query = plan.next()
            if selects { query.query.select = [.id, .system(.updatedAt)] }
            requests += 1
            let answer = await pass.remote.list(name, query)
            guard case .rows(let page) = answer else {
                // A backend that is away also fails the pull, and a later one begins here again.
                guard answer.mayBeOfQuery else { return true }
                if plan.reducePageSize(after: answer) { continue }
                guard selects else { return false }
                selects = false
                continue
            }
            if times.began == nil, let now = page.sentAt, plan.begins(after: now) {
                // The backend's clock was set back. What has changed since has an earlier time.
                return try await begin(&requests)
            }
            if let time = page.deletionsAfter, known.token.misses(deletionsUpTo: time) {
                return try await begin(&requests)
            }
            times.began = times.began ?? page.sentAt
            times.ended = page.sentAt
            let rows = plan.take(page)
            let (begunAt, elapsed) = (times.began ?? known.at, clock.uptime() - began)
            try await change(known) { transaction, table, token in
                try transaction.doubts.add(rows.compactMap(\.idText), of: table)
                token.advance(to: rows, begunAt: begunAt, elapsed: elapsed)
            }
        }
        let read = times
        try await change(known) { _, _, token in token.complete(after: known.token, read) }
        return true
    }

    /// Changes the token of the changes, unless a purge has removed it meanwhile: then the next pull compares.
    private func change(
        _ known: Known,
        _ change: @escaping @Sendable (Transaction, TableRecord, inout PullToken) throws -> Void
    ) async throws(StoreError) {
        let name = name
        try await store.write { transaction in
            guard let table = try transaction.tables.table(name) else { return }
            var token = try transaction.tokens.ofChanges(table)
            guard token.rowID == known.token.rowID else { return }
            try change(transaction, table, &token)
            try transaction.tokens.save(token)
        }
    }
}

extension TablePart {
    /// The warning of a table whose backend gives rows beyond the part.
    static let othersCame =
        "The backend gives rows that do not fit the filter of this table's part: it ignores the filter, or "
        + "compares in another way. Such rows are here too."
}

extension PullTokens {
    /// The token of the list of changes, by which items that left the part are found. It is removed with the
    /// table's other tokens.
    fileprivate func ofChanges(_ table: TableRecord) throws -> PullToken {
        // The hash of no filter.
        try token(table, queryID: "", filterHash: "changes")
    }
}
