import TablesProtocol

extension PullPass {
    /// Applies rows that waited, in one transaction with the token that they reach. It takes fewer where
    /// clients wait to write, and their writes along.
    /// - Parameters:
    ///   - part: in order, and asked for in one way.
    ///   - token: nil before the first rows.
    func apply(
        _ part: [PagePrefetcher.Page], _ token: PullToken?
    ) async throws(StoreError) -> AppliedPart {
        let (request, store) = (request, store)
        return try await store.writeBesideClients { transaction in
            var applied = AppliedPart()
            guard let paging = part.first?.paging else { return applied }
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
            if record.paging != paging {
                record.paging = paging
                try transaction.tables.save(record)
            }
            guard request.keepsToken else { return applied }
            var moved = try token ?? transaction.tokens.token(record, of: request)
            let taken = rows.prefix(applied.rows)
            if !request.isWhole { try transaction.tokens.note(taken, of: moved) }
            if paging != .full {
                moved.advance(to: taken, now: transaction.now)
                try transaction.tokens.save(moved)
            }
            applied.token = moved
            return applied
        }
    }
}

extension PullPass {
    /// Asks the backend once more for rows that were set aside, a few at each pull.
    ///
    /// 1. One that comes well is applied and no longer set aside.
    /// 2. One that still cannot be taken keeps its place with its present text.
    /// 3. An empty list says that the backend has it no more. Any other answer says nothing.
    func askForSetAside(since begun: Instant) async throws(StoreError) {
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
