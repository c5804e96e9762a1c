import TablesProtocol

extension Transaction {
    /// Takes one row of a page that was pulled. Tells nobody: the caller emits one event a page.
    ///
    /// 1. A row whose push outcome was committed after the page's request began is left alone: no
    ///    order is read from versions or clocks.
    /// 2. Equal version, updatedAt and columns mean that it is here already. The first two are not
    ///    enough: a backend that is restored from an older backup gives a version a second time.
    /// 3. Over local changes the row is only kept as the backend's side.
    /// 4. Otherwise it becomes the item.
    ///
    /// - Parameter change: ``changeCount()`` as it was before the page was asked for.
    func apply(
        _ remote: RemoteRow, to table: TableRecord, asOf change: Int64
    ) throws -> AppliedRow {
        let server = try side(remote, in: table)
        guard var row = try row(table, exactly: remote.id) else {
            var row = ItemRow(new: remote.id, tableID: table.id)
            let before = row
            take(server, &row)
            row.createdAt = row.createdAt ?? now.milliseconds
            try restamp(&row, from: before)
            return row.deleted ? .deleted : .inserted
        }
        if row.settledAt > change { return .skipped }
        if isSame(row, server) { return .unchanged }
        let before = row
        if row.pending != nil, !has(.pullOverwrites) {
            row.shadow = server.columns
            row.serverVersion = server.version
            row.serverUpdatedAt = server.updatedAt
            row.serverDeleted = server.isDeleted
            try save(&row)
            try renewConflict(of: row)
            return .shadowed
        }
        take(server, &row)
        try restamp(&row, from: before)
        return row.deleted && !before.deleted ? .deleted : .updated
    }

    /// A conflict whose server's side has changed gets a new revision, so that a decision on the old
    /// one is refused.
    private func renewConflict(of row: ItemRow) throws {
        guard !has(.staleDecisionIsTaken), let pending = row.pending,
            var operation = try operation(seq: pending),
            operation.state == .conflict
        else { return }
        operation.reason = ConflictReason.sentence(
            operation.kind, isGone: !ServerSide(shadowOf: row).isLive)
        try save(&operation)
        emit(.conflict, operation)
    }

    private func take(_ server: ServerSide, _ row: inout ItemRow) {
        row.serverVersion = server.version
        row.serverUpdatedAt = server.updatedAt
        row.serverDeleted = server.isDeleted
        row.columns = server.columns ?? row.columns
        row.deleted = server.isDeleted
        row.createdAt = row.createdAt ?? server.createdAt?.milliseconds
    }

    private func isSame(_ row: ItemRow, _ server: ServerSide) -> Bool {
        guard row.serverDeleted == server.isDeleted, row.serverVersion == server.version,
            row.serverUpdatedAt == server.updatedAt
        else { return false }
        let known = row.pending == nil ? row.visible : row.shadow
        guard let known, let theirs = server.columns else {
            return server.version != nil || server.updatedAt != nil
        }
        return theirs.changedNames(from: known).isEmpty
    }

    /// Removes an item that has no local changes.
    /// - Parameter leavingTombstone: whether clients that sync against this store are to learn of
    ///   it; a purge leaves nothing.
    /// - Returns: whether there was such an item.
    @discardableResult
    func remove(
        _ id: ItemID, from table: TableRecord, leavingTombstone: Bool
    ) throws -> Bool {
        guard var row = try row(table, exactly: id), row.pending == nil else { return false }
        guard leavingTombstone else {
            try run("DELETE FROM items WHERE rowid = ?", [row.rowID])
            return true
        }
        if row.deleted { return false }
        let before = row
        row.deleted = true
        row.serverVersion = nil
        row.serverUpdatedAt = nil
        row.serverDeleted = false
        try restamp(&row, from: before)
        return true
    }
}
