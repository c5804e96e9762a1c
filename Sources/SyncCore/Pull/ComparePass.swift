import TablesProtocol

/// One check of a table's copy against the backend. It finds what no time of change shows: rows that were deleted for
/// good or given to another user, rows that were committed late, times that went back.
///
/// 1. The numbers of live rows are compared. If they are the same, that is all until ids are due.
/// 2. The changes are pulled, and the numbers are compared again.
/// 3. If they differ, or ids are due, all ids and versions are listed, page by page behind the last id, and what is
///    missing here or has another version is fetched. The position is kept: a later check goes on there, also after
///    a restart.
/// 4. What was not listed is asked for by its id, and removed if it is gone (``AskedItems``).
///
/// Rows with local changes keep them, as in a pull. The pass makes way for any other work, and goes on later. Of a
/// table whose answers contradict each other the status says so, and it is checked no more until a pull has compared
/// all its rows.
struct ComparePass: Sendable {
    private let pass: PullPass
    private let period: Duration
    private let pull: @Sendable () async -> PullEnd
    private var asked: AskedItems

    /// - Parameters:
    ///   - period: the time between two checks.
    ///   - pull: pulls the changes.
    ///   - mayGoOn: whether nothing else has to be done first.
    init(
        _ pass: PullPass, every period: Duration,
        pull: @escaping @Sendable () async -> PullEnd,
        mayGoOn: @escaping @Sendable () async -> Bool
    ) {
        (self.pass, self.period, self.pull) = (pass, period, pull)
        asked = AskedItems(pass: pass, end: PullEnd(pass.request.table))
        (asked.compares, asked.mayGoOn) = (true, mayGoOn)
    }

    private enum Outcome: Sendable {
        /// Only the numbers were compared, or the comparison goes on later.
        case kept
        case compared(surplus: Int)
        case objection(String, isSure: Bool = false)
    }

    /// - Parameter pullsFirst: whether the changes are pulled in any case.
    mutating func run(pullsFirst: Bool) async -> PullEnd {
        let (name, store) = (pass.request.table, pass.store)
        do throws(StoreError) {
            let known = try await store.read { transaction in
                try transaction.tables.table(name).map {
                    ($0, try transaction.copyChecks.check(of: $0), transaction.now)
                }
            }
            guard case let (table, known, now)? = known else { return await pull() }
            var check = known
            let outcome = try await outcome(table, &check, now, pullsFirst)
            let (reached, drift) = (check, asked.drift)
            try await store.write { transaction in
                var check = reached
                check.checkedAt = transaction.now
                switch outcome {
                case .kept: break
                case .compared(let surplus):
                    check.surplus = surplus
                    check.end(at: transaction.now)
                case .objection(let sentence, let isSure):
                    check.end(sentence, isSure: isSure, at: transaction.now)
                }
                if drift.rows > 0 {
                    let found = drift.sentences(ofPart: table.part != nil, at: transaction.now)
                    (check.found, check.mended) = (found, check.mended + drift.rows)
                    try transaction.history.record(
                        .pulled, actor: .engine, tableID: table.id, summary: found)
                    transaction.events.emit(.status)
                }
                try transaction.copyChecks.save(check)
            }
        } catch {
            asked.end.fail(error)
        }
        return asked.end
    }

    private mutating func outcome(
        _ table: TableRecord, _ check: inout CopyCheck, _ now: Instant, _ pullsFirst: Bool
    ) async throws(StoreError) -> Outcome {
        var (counted, now) = (nil as Int?, now)
        if check.begun == nil, !pullsFirst, !check.comparesIDs(every: period, at: now),
            try await surplus(table)?.rows ?? check.surplus == check.surplus
        {
            return .kept
        }
        if check.begun == nil || pullsFirst {
            let requests = asked.end.report.requests
            asked.end = await pull()
            asked.end.report.requests += requests
            // A pull that compares all rows ends a comparison.
            (check, now) = try await pass.store.read {
                (try $0.copyChecks.check(of: table), $0.now)
            }
            guard asked.end.report.error == nil, asked.end.stop == nil else { return .kept }
        }
        if check.begun == nil {
            let comparesIDs = check.comparesIDs(every: period, at: now)
            let found = try await surplus(table)
            let isSame = found?.rows ?? check.surplus == check.surplus
            guard asked.end.report.error == nil, comparesIDs || !isSame else { return .kept }
            counted = found?.counted
            (check.begun, check.lastID) = (
                try await pass.store.read { try $0.counters.changeCount() }, nil
            )
        }
        return try await compare(table, &check, counted)
    }

    /// How many live rows the backend has, and how many more that are than are here; nil if it does not say. A script
    /// may not know the form of a list with a count, so it is not asked for one.
    private mutating func surplus(
        _ table: TableRecord
    ) async throws(StoreError) -> (counted: Int, rows: Int)? {
        let wanted = pass.request.wanted
        guard wanted.parameters.isEmpty else { return nil }
        asked.end.report.requests += 1
        let query = PageQuery(TableQuery(filter: wanted.filter, top: 0, count: true))
        let answer = await pass.remote.list(pass.request.table, query)
        guard case .rows(let page) = answer else {
            if !answer.mayBeOfQuery { try await asked.fail(answer) }
            return nil
        }
        guard let counted = page.total else { return nil }
        let here = try await pass.store.read { try $0.copyChecks.knownRows(of: table) }
        return (counted, counted - here)
    }

    /// Lists the ids from where the comparison is, and fetches what differs.
    private mutating func compare(
        _ table: TableRecord, _ check: inout CopyCheck, _ counted: Int?
    ) async throws(StoreError) -> Outcome {
        var size = min(pass.pageRows, table.acceptedRows ?? pass.pageRows)
        var selected: [Expression.Column] = [.id, .system(.version)]
        var isQuiet = true
        while await asked.goesOn(), asked.end.report.requests < SyncLimits.pullPages {
            asked.end.report.requests += 1
            let query = ids(of: table, behind: check.lastID, size, selected)
            let answer = await pass.remote.list(table.name, query)
            guard case .rows(let page) = answer else {
                if let smaller = answer.smallerPage(than: size) {
                    size = smaller
                } else if answer.mayBeOfQuery, selected.count > 1 {
                    selected = [.id]
                } else if answer.mayBeOfQuery {
                    return .objection("It refuses a list of ids.")
                } else {
                    try await asked.fail(answer)
                    return .kept
                }
                continue
            }
            guard let last = page.elements.last else {
                return try await finish(table, check, counted: isQuiet ? counted : nil)
            }
            guard page.rows.allSatisfy(\.columns.isEmpty) else {
                return .objection("It gives whole rows where ids are selected ($select).")
            }
            let differing = try await pass.store.read {
                try $0.copyChecks.differing(page, in: table)
            }
            guard try await asked.ask(for: differing) else { return await interrupted() }
            if asked.older > 0 { return .objection(Self.restored, isSure: true) }
            isQuiet = isQuiet && differing.isEmpty
            check.lastID = last.idText
            let next = check
            let isNew = try await pass.store.write { transaction in
                try transaction.copyChecks.save(next)
                return try transaction.copyChecks.note(page, of: table)
            }
            guard isNew, last.idText != nil else {
                return .objection("It gives the same rows for each page.")
            }
        }
        return .kept
    }

    private func ids(
        of table: TableRecord, behind last: String?, _ size: Int, _ selected: [Expression.Column]
    ) -> PageQuery {
        let wanted = pass.request.wanted
        let behind = last.map { last in
            let id = Expression.Literal.id(ItemID(stored: last, kind: table.idKind))
            return Expression.binary(.greaterThan, .column(.id), .literal(id))
        }
        let query = TableQuery(
            filter: wanted.filter?.and(behind) ?? behind, orderBy: [Ordering(.column(.id))],
            top: size,
            select: selected)
        return PageQuery(query, parameters: wanted.parameters)
    }

    private func interrupted() async -> Outcome {
        let isRefused = asked.end.report.error == nil ? await asked.goesOn() : false
        return isRefused ? .objection("It refuses or ignores a filter by ids.") : .kept
    }

    private static let restored =
        "It has much older versions of rows than it gave before: it may have been restored from an older backup. These "
        + "rows stay here as they are. Export them before you take the backend's."

    /// Asks for the items that were not listed.
    /// - Parameter counted: how many rows the backend counted before its ids were listed; nil if it did not say, or
    ///   if rows may have changed since. Else it lists so many.
    private mutating func finish(
        _ table: TableRecord, _ check: CopyCheck, counted: Int?
    ) async throws(StoreError) -> Outcome {
        let after = try await surplus(table)?.counted
        guard asked.end.report.error == nil else { return .kept }
        let listed = try await pass.store.read {
            try $0.copyChecks.listed(in: table, asOf: check.begun ?? 0)
        }
        if let counted, counted == after,
            counted < listed.count && listed.others.isEmpty || counted > listed.count
        {
            return .objection("It counts \(counted) rows and lists \(listed.count).")
        }
        guard try await asked.ask(for: listed.others) else { return await interrupted() }
        let here = try await pass.store.read { try $0.copyChecks.knownRows(of: table) }
        return .compared(surplus: after.map { $0 - here } ?? 0)
    }
}
