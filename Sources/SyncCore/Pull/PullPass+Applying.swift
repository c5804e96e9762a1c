import TablesProtocol

extension PullPass {
    /// Applies received rows in one transaction, together with the pull token that they reach. If clients
    /// wait to write, it applies fewer rows and commits their writes too.
    /// - Parameters:
    ///   - part: rows in order, requested with the same paging.
    ///   - token: the present token; nil before the first rows.
    ///   - skipped: the earliest time of an earlier row of the pull that was left for a later one.
    func apply(
        _ part: [PagePrefetcher.Page], _ token: PullToken?, skipped: Instant? = nil
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
                            element, to: record, asOf: page.change, hasSetAside: hasSetAside)
                        : .unchanged
                    applied.add(effect, of: element)
                    if effect != .skipped { current += [element.idText].compactMap(\.self) }
                    if applied.rows >= SyncLimits.applyRowsBesideWrites, store.hasWaitingWrites {
                        break applying
                    }
                }
            }
            if applied.counts.applied + applied.counts.deleted > 0 {
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
                try transaction.tokens.save(moved)
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
