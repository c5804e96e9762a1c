import TablesProtocol

extension PullPass {
    /// Applies received rows in one transaction, together with the pull token that they reach. If clients
    /// wait to write, it applies fewer rows and commits their writes too.
    /// - Parameters:
    ///   - part: rows in order, requested with the same paging.
    ///   - token: the present token; nil before the first rows.
    func apply(
        _ part: [PagePrefetcher.Page], _ token: PullToken?
    ) async throws(StoreError) -> AppliedPart {
        let (request, store) = (request, store)
        return try await store.writeBesideClients { transaction in
            var applied = AppliedPart()
            guard let first = part.first else { return applied }
            let rows = part.flatMap(\.rows)
            var record = try IDKinds(transaction: transaction).tableForRows(request.table, rows)
            let hasSetAside = try transaction.setAsideRows.count(of: record.id) > 0
            applying: for page in part {
                for element in page.rows {
                    applied.counts.add(
                        try PulledRows(transaction: transaction).take(
                            element, to: record, asOf: page.change, hasSetAside: hasSetAside))
                    applied.rows += 1
                    if applied.rows >= SyncLimits.applyRowsBesideWrites, store.hasWaitingWrites {
                        break applying
                    }
                }
            }
            if applied.counts.applied + applied.counts.deleted > 0 {
                transaction.events.emit(.item, table: record.name)
            }
            if record.paging != first.paging || record.isUnsorted != first.isUnsorted {
                record.paging = first.paging
                record.isUnsorted = first.isUnsorted
                try transaction.tables.save(record)
            }
            guard request.keepsToken else { return applied }
            var moved = try token ?? transaction.tokens.token(record, of: request)
            let taken = rows.prefix(applied.rows)
            // Without the token the next pull starts from the beginning.
            guard try transaction.tokens.exists(moved) else {
                applied.token = moved
                return applied
            }
            if !request.isWhole { try transaction.tokens.note(taken, of: moved) }
            if first.paging != .full {
                moved.advance(to: taken, begunAt: first.begunAt ?? transaction.now)
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
            let answer = await remote.list(name, .row(named: id))
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
