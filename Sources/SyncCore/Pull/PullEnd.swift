import HTTPTypes
import Storage
import TablesProtocol

/// What came of a pull.
struct PullEnd: Sendable {
    var report: PullReport
    var stop: PushStop?
    /// A failure that is the table's, if a proof shows that the backend otherwise answers.
    var tableFailure: Prover.Failure?
    /// Whether rows came that pushes have replaced: the backend's copy lags behind.
    var isLagging = false

    init(_ table: TableName) { report = PullReport(table: table.text) }

    /// Ends the pull because the store could not be written.
    mutating func fail(_ error: StoreError) {
        (report.error, stop) = (error.description, .store(error.description))
        tableFailure = nil
    }

    /// Takes note of an answer that is no list.
    /// - Returns: whether it says something about the table alone.
    @discardableResult
    mutating func fail(_ failure: Prover.Failure) -> Bool {
        report.error = failure.reason
        if failure.mayBeOfTable {
            tableFailure = failure
            return false
        }
        switch failure.state {
        case .signedOut: stop = .signIn
        case .offline, .portal, .degraded: stop = .backend(failure)
        case .online, .notTables: return true
        }
        return false
    }
}

extension PullPass {
    /// Finishes a pull whose pages were all received.
    ///
    /// 1. Ask whether the backend assigns integer ids, and for the items that an unpaged list did not show.
    /// 2. In one transaction: note integer ids, remove items that the backend no longer has, complete the table
    ///    and the token, note the sizes of pages and the warning, and clear the failure. If the token was
    ///    removed meanwhile, so were items, and the next pull completes the table.
    func finish(_ pull: inout Pull) async throws(StoreError) {
        let (request, generation, done) = (request, remote.generation, pull)
        let (plan, seen, begun, removes) = (
            pull.plan, pull.plan.ids, pull.begun, pull.removesUnseen
        )
        let elapsed = self.elapsed(pull)
        let hasIntegerIDs = await assignsIDs(pull)
        let isDoubted = plan.isUnpaged || plan.paging.isLinked
        // By its id the backend also gives a row that has left the part: such rows are asked for later.
        let gone: Set<ItemID>? =
            if !isDoubted || !removes || !request.isWhole { nil } else {
                request.part == nil ? try await missing(pull) : []
            }
        pull.end.report.deleted += try await store.write { transaction in
            var record =
                try transaction.tables.table(request.table)
                ?? transaction.tables.make(request.table)
            if hasIntegerIDs { try IDKinds(transaction: transaction).adoptIntegerIDs(&record) }
            let unseen = UnseenItems(transaction: transaction)
            var removed = 0
            let wasReset = try done.token.map { try !transaction.tokens.exists($0) } ?? false
            if request.isWhole {
                if removes {
                    let kept: Int
                    (removed, kept) = try unseen.removeUnseen(
                        seen, from: record, asOf: begun, only: gone, older: request.older)
                    if request.part != nil {
                        // An item that stays for another query has left this one too, and is asked for.
                        let kept = try transaction.tokens.members(of: record)
                            .subtracting(seen.map(\.text))
                        let left = try unseen.list(seen, in: record, asOf: begun).map(\.text)
                        try transaction.doubts.add(left + kept, of: record)
                    }
                    // Rows of a copy that lags behind are compared again.
                    record.mustCompare = kept > 0 || done.end.isLagging
                }
                if removes && plan.collectsIDs || !record.isComplete {
                    try transaction.copyChecks.noteCompared(record)
                }
                record.isComplete = record.isComplete || !wasReset
                if plan.start == nil {
                    try transaction.setAsideRows.releaseUnseen(since: done.startedAt, of: record)
                }
            }
            if request.keepsToken, !wasReset {
                let token = try done.token ?? transaction.tokens.token(record, of: request)
                if removes, !request.isWhole, !isDoubted {
                    removed = try unseen.removeFormerMembers(
                        seen, token, from: record, asOf: begun)
                }
                var completed = done.completed(token, elapsed: elapsed)
                completed.lastRunAt = transaction.now
                try transaction.tokens.save(completed)
            }
            record.lastPull = transaction.now
            if request.part != nil { record.partGeneration = generation }
            record.warning = plan.warning(at: done.times.ended ?? transaction.now)
            if done.hasOthers {
                record.warning = [record.warning, TablePart.othersCame].compactMap(\.self)
                    .joined(separator: " ")
            }
            (record.paging, record.isUnsorted) = (plan.paging, plan.isUnsorted)
            record.lacksVersions = plan.hasVersions.map { !$0 } ?? record.lacksVersions
            record.pageRows = plan.received.pageRows(
                after: record.pageRows, largest: record.largestPageRows)
            (record.acceptedRows, record.largerPagesAfter) = plan.size.next
            // A first generation server gives as many rows as requested, and 50 without a request.
            if generation != .mobileServices {
                record.largestPageRows = max(record.largestPageRows ?? 0, plan.received.largest)
            }
            (record.pullError, record.pullsFailSince) = (nil, nil)
            try transaction.tableWaits.clear(.pull, of: record.name)
            try transaction.tables.save(record)
            return removed
        }
    }

    /// Why a comparison ends without removing anything, if the backend seems to have been restored from an older
    /// backup; nil if it does not, or if the pull takes older rows too.
    ///
    /// 1. It gave a row that is older than the one that it gave before. That row was not taken.
    /// 2. It keeps a row of each deletion, and lacks rows that are newer than all that it has.
    func olderBackend(_ pull: Pull) async throws(StoreError) -> String? {
        guard request.older == .areRefused else { return nil }
        let (name, seen, begun) = (request.table, pull.plan.ids, pull.begun)
        var lacking = 0
        if pull.removesUnseen, pull.hasTombstones, let newest = pull.newest {
            lacking = try await store.read { transaction in
                guard let table = try transaction.tables.table(name) else { return 0 }
                return try UnseenItems(transaction: transaction)
                    .count(seen, in: table, asOf: begun, after: newest)
            }
        }
        guard pull.olderRows + lacking > 0 else { return nil }
        let older = pull.olderRows
        return "The backend has older versions of \(older) rows than it gave before, and lacks "
            + "\(lacking) that are newer than all it has: it may have been restored from an older "
            + "backup. These rows stay here as they are. Export them before you take the backend's."
    }

    /// Finishes a pull by a client's own pairs: what the list has no longer is forgotten.
    func finishFollowing(_ pull: Pull) async throws(StoreError) {
        let (request, plan, elapsed) = (request, pull.plan, elapsed(pull))
        try await store.write { transaction in
            let record =
                try transaction.tables.table(request.table)
                ?? transaction.tables.make(request.table)
            let token = try pull.token ?? transaction.tokens.token(record, of: request)
            guard try transaction.tokens.exists(token) else { return }
            if !plan.isUnsure {
                try transaction.tokens.forgetOthers(
                    than: pull.followed, since: plan.start?.instant, asOf: pull.begun, token,
                    of: record)
            }
            try transaction.tokens.save(pull.completed(token, elapsed: elapsed))
            try transaction.tokens.noteUse(token, of: record)
        }
    }

    /// Stores why the table's pull failed, and since when its pulls fail.
    /// - Parameters:
    ///   - canBeListed: whether the backend gave a list of the table, so that it is there.
    ///   - failure: puts the next pull off; without it, the next sync pulls.
    func noteFailure(
        _ reason: String, canBeListed: Bool, _ failure: Prover.Failure? = nil,
        random: any RandomSource = SystemRandom()
    ) async throws(StoreError) {
        let name = request.table
        try await store.write { transaction in
            if let failure {
                _ = try transaction.tableWaits.note(.pull, of: name, failure, random: random)
            } else {
                try transaction.tableWaits.clear(.pull, of: name)
            }
            let known = try transaction.tables.table(name)
            guard var record = try known ?? (canBeListed ? transaction.tables.make(name) : nil)
            else { return }
            record.pullError = reason
            record.pullsFailSince = record.pullsFailSince ?? transaction.now
            try transaction.tables.save(record)
            transaction.events.emit(.status)
        }
    }

    /// Of the unchanged items that a list without pages of our own did not show, those that the backend answers
    /// with 404 or 410. Such a list may leave rows out, so each item is requested by its id, a few in each pull.
    private func missing(_ pull: Pull) async throws(StoreError) -> Set<ItemID> {
        let (name, seen, begun) = (request.table, pull.plan.ids, pull.begun)
        let unseen = try await store.read { transaction in
            guard let table = try transaction.tables.table(name) else { return [ItemID]() }
            return try UnseenItems(transaction: transaction).list(seen, in: table, asOf: begun)
        }
        var missing: Set<ItemID> = []
        for id in unseen.prefix(SyncLimits.unseenAsked) {
            guard await remote.row(id, in: name).isAbsence else { continue }
            missing.insert(id)
        }
        return missing
    }

    /// Whether an empty table has integer ids that the backend assigns. First generation servers refuse a
    /// non-numeric id for such a table with 400; for others they answer that there is no such item.
    private func assignsIDs(_ pull: Pull) async -> Bool {
        guard remote.generation == .mobileServices, request.isWhole, pull.end.report.received == 0,
            pull.token?.isComplete != true
        else { return false }
        let probe = RemoteRequest(
            method: .get, target: "/tables/\(request.table.text)/understudy")
        guard case .rejected(status: 400, _) = await remote.send(probe, asList: false).answer else {
            return false
        }
        return true
    }
}

extension PullPass {
    /// Applies received rows in one transaction, together with the pull token that they reach. If clients
    /// wait to write, it applies fewer rows and commits their writes too.
    /// - Parameters:
    ///   - part: rows in order, requested with the same paging.
    ///   - token: the present token; nil before the first rows.
    ///   - skipped: the earliest time of an earlier row of the pull that was left for a later one.
    ///   - advancesToken: whether an interrupted pull continues from these rows.
    func apply(
        _ part: [PagePrefetcher.Page], _ token: PullToken?, skipped: Instant? = nil,
        advancesToken: Bool = true
    ) async throws(StoreError) -> AppliedPart {
        let (request, store, generation) = (request, store, remote.generation)
        return try await store.writeBesideClients { transaction in
            var applied = AppliedPart(skipped: skipped)
            guard let first = part.first else { return applied }
            let rows = part.flatMap(\.rows)
            var record = try IDKinds(transaction: transaction).tableForRows(request.table, rows)
            let hasSetAside = try transaction.setAsideRows.count(of: record.id) > 0
            var current: [String] = []
            applying: for page in part {
                for element in page.rows {
                    let pulled = PulledRows(transaction: transaction)
                    // A row of a client's own list that is here already counts as unchanged.
                    let isTaken = try request.followed == nil || pulled.isNews(element, to: record)
                    let effect =
                        isTaken
                        ? try pulled.take(
                            element, to: record, asOf: page.change, hasSetAside: hasSetAside,
                            older: request.older)
                        : .unchanged
                    applied.add(effect, of: element)
                    if effect != .skipped, effect != .lagging {
                        current += [element.idText].compactMap(\.self)
                    }
                    if applied.rows >= SyncLimits.applyRowsBesideWrites, store.hasWaitingWrites {
                        break applying
                    }
                }
            }
            if applied.effects.haveChanged {
                transaction.events.emit(.item, table: record.name)
            }
            if request.part != nil {
                try transaction.doubts.release(current, of: record)
                applied.hasOthers = try transaction.doubts.hasOthers(
                    among: current, in: record, of: generation)
            }
            if request.followed == nil,
                record.paging != first.paging || record.isUnsorted != first.isUnsorted
            {
                record.paging = first.paging
                record.isUnsorted = first.isUnsorted
                try transaction.tables.save(record)
            }
            guard request.keepsToken else { return applied }
            var moved = try token ?? transaction.tokens.token(record, of: request)
            // Without the token the next pull starts from the beginning.
            guard try transaction.tokens.exists(moved) else {
                applied.token = moved
                return applied
            }
            if request.followed != nil {
                try transaction.tokens.follow(rows.prefix(applied.rows), of: moved)
            } else if !request.isWhole {
                try transaction.tokens.note(rows.prefix(applied.rows), of: moved)
            }
            if first.paging.isByTime {
                var left = applied.rows
                for page in part where left > 0 {
                    moved.advance(
                        to: page.rows.prefix(left), begunAt: page.begunAt ?? transaction.now,
                        elapsed: page.elapsed)
                    left -= page.rows.count
                }
                // A row that was left comes again, also if this pull does not reach its end.
                if let skipped = applied.skipped { moved.hold(before: skipped) }
                if advancesToken { try transaction.tokens.save(moved) }
            }
            applied.token = moved
            return applied
        }
    }
}

extension PullPass {
    /// Requests rows again that were set aside, a few in each pull.
    ///
    /// 1. A row that can be applied now is applied and no longer set aside.
    /// 2. A row that still cannot be applied stays set aside, with its present text.
    /// 3. An empty list means that the backend no longer has the row. Any other answer means nothing.
    func retrySetAsideRows(since begun: Instant) async throws(StoreError) {
        guard request.isWhole else { return }
        let name = request.table
        let (ids, change) = try await store.read { transaction in
            guard let table = try transaction.tables.table(name) else {
                return ([String](), Int64(0))
            }
            return (
                try transaction.setAsideRows.ids(
                    of: table, before: begun, limit: SyncLimits.setAsideAsked),
                try transaction.counters.changeCount()
            )
        }
        for id in ids where !cancel.isSet {
            var row = PageQuery.row(named: id)
            row.parameters = request.wanted.parameters
            row.query.filter =
                request.wanted.filter.map { $0.and(row.query.filter) } ?? row.query.filter
            let answer = await remote.list(name, row)
            try await store.write { transaction in
                guard let table = try transaction.tables.table(name) else { return }
                try transaction.setAsideRows.noteAsked(id, of: table)
                guard case .rows(let page) = answer else { return }
                if page.elements.isEmpty {
                    return try transaction.setAsideRows.release(id, of: table)
                }
                guard let element = page.elements.first(where: { $0.idText == id }) else { return }
                _ = try PulledRows(transaction: transaction).take(element, to: table, asOf: change)
            }
            guard case .rows = answer else { return }
        }
    }
}
