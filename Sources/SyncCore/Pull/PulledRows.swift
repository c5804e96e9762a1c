import TablesProtocol

/// What a row of the backend changed in the store.
enum AppliedRow: Sendable, Hashable {
    case inserted, updated, deleted
    /// The store already had the same row.
    case unchanged
    /// The item has local changes, which stay. The row is stored beside them.
    case shadowed
    /// A push outcome was committed after the page was requested, so the row may be older than the item.
    case skipped
    /// The backend's row is older than the one that it gave before, and the pull takes no such row.
    case older
    /// The backend's row is one that a push has replaced: its copy lags behind (``ReplacedRows``).
    case lagging
}

struct PulledRows: InTransaction {
    let transaction: Transaction

    /// Takes an element of a page: applies a row, or sets an unusable one aside.
    /// - Parameters:
    ///   - hasSetAside: whether rows of the table are set aside, possibly this one.
    ///   - older: see ``PullRequest/older``.
    func take(
        _ element: ListElement, to table: TableRecord, asOf change: Int64, hasSetAside: Bool = true,
        older: PullRequest.OlderRows = .lag
    ) throws -> AppliedRow {
        switch element {
        case .row(let row):
            if hasSetAside { try setAsideRows.release(row.id.text, of: table) }
            return try apply(row, to: table, asOf: change, older: older)
        case .unusable(let unusable):
            try setAsideRows.keep(unusable, of: table)
            return .unchanged
        }
    }

    /// Whether a row that a list by a client's own pairs gave is not here, or only older. A pull without the
    /// pairs, which runs before, did not bring it, so the backend shows it by these pairs alone.
    func isNews(_ element: ListElement, to table: TableRecord) throws -> Bool {
        guard case .row(let remote) = element else { return false }
        guard let row = try items.row(table, exactly: remote.id) else { return true }
        guard row.pending == nil, let theirs = remote.updatedAt.flatMap({ Instant(parsing: $0) })
        else { return false }
        guard let known = row.serverUpdatedAt.flatMap({ Instant(parsing: $0) }) else { return true }
        return theirs > known || theirs == known && row.deleted && !remote.isDeleted
    }

    /// Applies one pulled row. Emits no event; the caller emits one for each page.
    ///
    /// 1. If the row's push outcome was committed after the page was requested, the row is skipped.
    ///    Versions and clocks give no order.
    /// 2. A row that a push has replaced a moment ago is left, unless a person takes older rows.
    /// 3. If the backend has given the item's id again, the item loses it
    ///    (``AssignedIDs/giveAway(_:_:)``), and the row is a new item. A new row that is all the same as that of
    ///    an item whose id differs in case alone is that item.
    /// 4. If version, updatedAt and columns are equal, at most the texts of values change (`1.1` for
    ///    `1.10`). Equal versions are not enough: a backend that is restored from an older backup issues a
    ///    version a second time.
    /// 5. If the item has local changes, the row is only stored as the server's side.
    /// 6. Otherwise the row becomes the item.
    ///
    /// - Parameters:
    ///   - change: ``StoreCounters/changeCount()`` before the page was requested.
    ///   - older: see ``PullRequest/older``.
    func apply(
        _ remote: RemoteRow, to table: TableRecord, asOf change: Int64,
        older: PullRequest.OlderRows = .lag
    ) throws -> AppliedRow {
        let server = try tables.side(remote, in: table)
        guard var row = try items.row(table, exactly: remote.id) else {
            guard server.version != nil, let alike = try items.row(table, inAnyCase: remote.id),
                !alike.deleted, isSame(alike, server),
                try assignedIDs.remap(alike.id, to: remote.id, table)
            else { return try add(server, remote.id, table) }
            return .updated
        }
        if row.settledAt > change { return .skipped }
        let replaced = row.replaced.recent(at: transaction.now)
        let isSame = isSame(row, server)
        if older != .areTaken, !isSame,
            replaced.contains(version: server.version, updatedAt: server.updatedAt)
        {
            return older == .areRefused && isOlder(server, than: row) ? .older : .lagging
        }
        if try isAnother(remote, than: row) {
            try AssignedIDs(transaction: transaction).giveAway(row, table)
            return try add(server, remote.id, table)
        }
        if isSame {
            try takeTexts(of: server, &row)
            return .unchanged
        }
        if older == .areRefused, isOlder(server, than: row) { return .older }
        let before = row
        if row.pending != nil {
            row.shadow = server.columns
            row.takeServerProperties(server)
            try items.save(&row)
            try renewConflict(of: row)
            return .shadowed
        }
        take(server, &row)
        try items.restamp(&row, from: before)
        try replacedWrites.record(row, replacing: before)
        return row.deleted && !before.deleted ? .deleted : .updated
    }

    private func add(
        _ server: ServerSide, _ id: ItemID, _ table: TableRecord
    ) throws -> AppliedRow {
        var row = ItemRow(new: id, tableID: table.id)
        let before = row
        take(server, &row)
        row.createdAt = row.createdAt ?? transaction.now.milliseconds
        try items.restamp(&row, from: before)
        return row.deleted ? .deleted : .inserted
    }

    /// Whether the backend has another row under an item's integer id: it was created at another time, the
    /// item's own row is gone for good, or the item is one that the backend does not have yet, under a
    /// provisional id.
    private func isAnother(_ remote: RemoteRow, than row: ItemRow) throws -> Bool {
        guard remote.id.kind == .integer else { return false }
        if remote.wasCreated(otherThan: row.serverCreatedAt) { return true }
        guard let pending = row.pending else {
            return row.deleted && !row.serverDeleted && !remote.isDeleted
        }
        return try queue.operation(seq: pending)?.isAssigned == true
    }

    /// Gives a conflict a new revision if its server's side has changed, so that a decision about the old
    /// one is refused.
    private func renewConflict(of row: ItemRow) throws {
        guard let pending = row.pending, var operation = try queue.operation(seq: pending),
            operation.state == .conflict
        else { return }
        operation.reason = ConflictReason.sentence(
            operation.kind, isGone: !ServerSide(shadowOf: row).isLive)
        try queue.save(&operation)
        events.emit(.conflict, operation)
    }

    private func isOlder(_ server: ServerSide, than row: ItemRow) -> Bool {
        guard let theirs = server.updatedAt.flatMap({ Instant(parsing: $0) }),
            let known = row.serverUpdatedAt.flatMap({ Instant(parsing: $0) })
        else { return false }
        return theirs < known
    }

    private func take(_ server: ServerSide, _ row: inout ItemRow) {
        row.takeServerProperties(server)
        row.columns = server.columns ?? row.columns
        row.deleted = server.isDeleted
        row.createdAt = row.createdAt ?? server.createdAt?.milliseconds
    }

    /// Takes the backend's texts of the values of an item without local changes.
    private func takeTexts(of server: ServerSide, _ row: inout ItemRow) throws {
        guard row.pending == nil, let theirs = server.columns, row.visible != nil else { return }
        let columns = row.columns.written(as: theirs)
        guard columns != row.columns else { return }
        row.columns = columns
        try items.save(&row)
    }

    private func isSame(_ row: ItemRow, _ server: ServerSide) -> Bool {
        guard row.serverDeleted == server.isDeleted, row.serverVersion == server.version,
            row.serverUpdatedAt == server.updatedAt
        else { return false }
        let known = row.pending == nil ? row.visible : row.shadow
        guard let known, let theirs = server.columns else {
            return server.version != nil || server.updatedAt != nil
                || row.pending == nil && server.isDeleted
        }
        // Most rows of a comparison have the same text, which needs no parsing.
        return theirs == known || theirs.changedNames(from: known).isEmpty
    }
}
