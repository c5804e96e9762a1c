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

    func run() async -> PullPass.End {
        var pass = pass
        var requests = 0
        do throws(StoreError) {
            if try await !noteChanges(&requests) { pass.request.reconcile = true }
            var end = await pass.run()
            end.report.requests += requests
            if end.report.error == nil, end.stop == nil, !pass.cancel.isSet {
                try await askDoubts(&end)
            }
            return end
        } catch {
            var report = PullReport(table: name.text)
            report.error = error.description
            return PullPass.End(report: report, stop: .store(error.description))
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

    // MARK: 3. What has left

    /// Asks for the items in doubt, some at a time.
    private func askDoubts(_ end: inout PullPass.End) async throws(StoreError) {
        let name = name
        try await store.write { transaction in
            guard let table = try transaction.tables.table(name) else { return }
            try transaction.doubts.forgetDeleted(of: table)
        }
        var (last, most) = ("", SyncLimits.doubtsAsked)
        while !pass.cancel.isSet {
            let (after, limit) = (last, most)
            let ids = try await store.read { transaction -> [ItemID] in
                guard let table = try transaction.tables.table(name) else { return [] }
                return try transaction.doubts.next(of: table, after: after, limit: limit)
            }
            guard let id = ids.last else { return }
            if try await ask(ids, &end) {
                last = id.text
            } else if most > 1, end.report.error == nil {
                most = 1
            } else {
                return
            }
        }
    }

    /// Asks for items in doubt until the backend has none of the others.
    /// - Returns: false if it gave no such list, with the error unless fewer ids may be taken.
    private func ask(_ ids: [ItemID], _ end: inout PullPass.End) async throws(StoreError) -> Bool {
        let (name, wanted) = (name, pass.request.wanted)
        var open = ids
        while !open.isEmpty {
            let change = try await store.read { try $0.counters.changeCount() }
            end.report.requests += 1
            let answer = await pass.remote.list(name, Self.query(open, in: wanted))
            guard case .rows(let page) = answer else {
                if ids.count == 1 || !answer.mayBeOfQuery { try await fail(answer, &end) }
                return false
            }
            let asked = open
            let ignoresFilter = page.elements.contains { element in
                !asked.contains { id in element.itemID.map { id.isLike($0) } ?? false }
            }
            if ignoresFilter {
                try await noteOthers()
                return false
            }
            let counts = try await store.write { transaction in
                var counts = AppliedCounts()
                guard let table = try transaction.tables.table(name) else { return counts }
                for element in page.elements {
                    counts.add(
                        try PulledRows(transaction: transaction).take(
                            element, to: table, asOf: change))
                }
                let given = asked.filter { id in
                    page.elements.contains { $0.itemID.map { id.isLike($0) } ?? false }
                }
                try transaction.doubts.release(given.map(\.text), of: table)
                if page.elements.isEmpty {
                    for id in asked
                    where try transaction.doubts.leave(id, of: table, asOf: change) {
                        counts.deleted += 1
                    }
                }
                if counts.applied + counts.deleted > 0 {
                    transaction.events.emit(.item, table: table.name)
                }
                return counts
            }
            end.report.received += page.elements.count
            end.report.add(counts)
            if page.elements.isEmpty { try await refresh(asked, &end) }
            open.removeAll { id in
                page.elements.isEmpty
                    || page.elements.contains { $0.itemID.map { id.isLike($0) } ?? false }
            }
        }
        return true
    }

    /// Takes the present rows of items that have left the part and are here for another query of the developer's
    /// or a client's own pairs: such a query may not ask for them again soon.
    private func refresh(_ ids: [ItemID], _ end: inout PullPass.End) async throws(StoreError) {
        let name = name
        let (kept, change) = try await store.read { transaction -> ([ItemID], Int64) in
            let change = try transaction.counters.changeCount()
            guard let table = try transaction.tables.table(name) else { return ([], change) }
            return (try ids.filter { try transaction.tokens.isMember($0.text, in: table) }, change)
        }
        guard !kept.isEmpty else { return }
        end.report.requests += 1
        guard
            case .rows(let page) = await pass.remote.list(name, Self.query(kept, in: PullQuery()))
        else { return }
        try await store.write { transaction in
            guard let table = try transaction.tables.table(name) else { return }
            for element in page.elements
            where kept.contains(where: { id in element.itemID.map { id.isLike($0) } ?? false }) {
                _ = try PulledRows(transaction: transaction).take(
                    element, to: table, asOf: change)
            }
            transaction.events.emit(.item, table: table.name)
        }
    }

    /// The rows of a query that have one of the ids, deleted or not.
    private static func query(_ ids: [ItemID], in rows: PullQuery) -> PageQuery {
        let comparisons = ids.map { Expression.binary(.equal, .column(.id), .literal(.id($0))) }
        let all = [rows.filter, Expression.joined(.or, comparisons)].compactMap(\.self)
        return PageQuery(
            TableQuery(filter: Expression.joined(.and, all), includeDeleted: true),
            parameters: rows.parameters)
    }

    private func fail(_ answer: RemoteAnswer, _ end: inout PullPass.End) async throws(StoreError) {
        let failure = Prover.failure(answer, name)
        end.report.error = failure.reason
        if failure.mayBeOfTable {
            end.tableFailure = failure
            return
        }
        switch failure.state {
        case .signedOut: end.stop = .signIn
        case .offline, .portal, .degraded: end.stop = .backend(failure)
        case .online, .notTables:
            try await pass.noteFailure(failure.reason, canBeListed: false)
        }
    }

    /// Warns that the backend ignores the filter, so that no item is known to have left.
    private func noteOthers() async throws(StoreError) {
        let name = name
        try await store.write { transaction in
            guard var table = try transaction.tables.table(name),
                table.warning?.contains(TablePart.othersCame) != true
            else { return }
            table.warning = [table.warning, TablePart.othersCame].compactMap(\.self)
                .joined(separator: " ")
            try transaction.tables.save(table)
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
