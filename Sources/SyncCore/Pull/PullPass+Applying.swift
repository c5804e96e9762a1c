import TablesProtocol

extension PullPass {
    /// Applies rows that waited, in one transaction with the token that they reach. It takes fewer where
    /// clients wait to write, and their writes along.
    /// - Parameters:
    ///   - part: in order, and asked for in one way.
    ///   - token: nil before the first rows.
    func apply(
        _ part: [PagesAhead.Page], _ token: PullToken?
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
