import Storage
public import TablesProtocol

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

/// A row of the backend that is not here, since it cannot be taken. Each pull asks for some of them
/// again.
public struct SetAsideRow: Codable, Sendable, Hashable {
    /// Where one can be read; it may be one that no item can have.
    public var id: String?
    /// Why it cannot be taken: a sentence.
    public var reason: String
    /// As the backend sent it, at most 64 KiB of it.
    public var text: String
    public var since: Instant
    public var seenAt: Instant
}

/// The backend's rows that cannot be applied: `set_aside_rows`.
struct SetAsideRows {
    let transaction: Transaction

    /// Sets a row aside, or updates the row if it is set aside already.
    func keep(_ row: UnusableRow, of table: TableRecord) throws {
        let limit = SyncLimits.setAsideTexts
        let kept = try transaction.integer(
            "SELECT count(*) FROM (SELECT 1 FROM set_aside_rows WHERE table_id = ? LIMIT ?)",
            [table.id, limit])
        let text =
            kept ?? 0 < limit
            ? String(decoding: row.text.utf8.prefix(SyncLimits.setAsideBytes), as: UTF8.self) : ""
        try transaction.run(
            """
            INSERT INTO set_aside_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?6)
            ON CONFLICT DO UPDATE SET text = excluded.text, reason = excluded.reason,
              seen_at = excluded.seen_at, asked_at = excluded.asked_at
            """,
            [table.id, Self.name(row), row.id, text, row.reason, transaction.now.milliseconds])
    }

    /// The number of rows of a table that are set aside.
    func count(of tableID: Int64) throws -> Int {
        Int(
            try transaction.integer(
                "SELECT count(*) FROM set_aside_rows WHERE table_id = ?", [tableID]) ?? 0)
    }

    /// What is said of the rows of a table that are set aside, with the first of them; nil if there are none.
    func sentence(on tableID: Int64) throws -> String? {
        let count = try count(of: tableID)
        guard count > 0 else { return nil }
        let named: [String] = try transaction.all(
            "SELECT id, reason FROM set_aside_rows WHERE table_id = ? ORDER BY name LIMIT ?",
            [tableID, StoreLimits.namedInSentence]
        ) { row in
            let id = (row[0] as String?).map { "“\($0.prefix(StoreLimits.titleCharacters))”" }
            return "\(id ?? "One without an id"): \(row[1] as String)"
        }
        let rows =
            count == 1
            ? "1 row of the backend is not here, since it cannot be taken."
            : "\(count) rows of the backend are not here, since they cannot be taken."
        let rest = count > named.count ? ["And \(count - named.count) more."] : []
        return ([rows] + named + rest).joined(separator: " ")
    }

    /// Removes a row that is no longer set aside: it was applied, or the backend no longer has it.
    func release(_ id: String, of table: TableRecord) throws {
        try transaction.run(
            "DELETE FROM set_aside_rows WHERE table_id = ? AND name = ?", [table.id, "id:\(id)"])
    }

    /// Removes the rows that a pull of the whole table, begun at `begun`, has not received.
    func releaseUnseen(since begun: Instant, of table: TableRecord) throws {
        try transaction.run(
            "DELETE FROM set_aside_rows WHERE table_id = ? AND seen_at < ?",
            [table.id, begun.milliseconds])
    }

    /// The ids to request again: rows that were neither received nor requested since `begun`, those
    /// requested longest ago first.
    func ids(of table: TableRecord, before begun: Instant, limit: Int) throws -> [String] {
        try transaction.column(
            """
            SELECT id FROM set_aside_rows
            WHERE table_id = ? AND id IS NOT NULL AND asked_at < ?
            ORDER BY asked_at, name LIMIT ?
            """, [table.id, begun.milliseconds, limit])
    }

    /// Records that a row was requested again.
    func noteAsked(_ id: String, of table: TableRecord) throws {
        try transaction.run(
            "UPDATE set_aside_rows SET asked_at = ? WHERE table_id = ? AND name = ?",
            [transaction.now.milliseconds, table.id, "id:\(id)"])
    }

    /// A page of the rows that are set aside, ordered by name.
    func page(
        of table: TableRecord, after name: String, limit: Int
    ) throws -> [(name: String, row: SetAsideRow)] {
        try transaction.all(
            """
            SELECT name, id, text, reason, since, seen_at FROM set_aside_rows
            WHERE table_id = ? AND name > ? ORDER BY name LIMIT ?
            """, [table.id, name, limit]
        ) { row in
            (
                row[0],
                SetAsideRow(
                    id: row[1], reason: row[3], text: row[2], since: Instant(milliseconds: row[4]),
                    seenAt: Instant(milliseconds: row[5]))
            )
        }
    }

    /// The key of a row in its table: its id, or a hash of its text (FNV-1a) if it has none.
    private static func name(_ row: UnusableRow) -> String {
        if let id = row.id { return "id:\(id)" }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in row.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "text:" + String(hash, radix: 16)
    }
}

/// Removes items that a complete pull has not received.
struct UnseenItems: InTransaction {
    let transaction: Transaction

    /// Removes unchanged items that a query returned before and that its complete pull has not received:
    /// they left the query, or the backend no longer has them. Items that another query returned stay, and
    /// all items of a table that is also pulled as a whole.
    /// - Returns: how many were removed.
    func removeFormerMembers(
        _ seen: Set<ItemID>, _ token: PullToken, from table: TableRecord, asOf change: Int64
    ) throws -> Int {
        var removed = 0
        for text in try tokens.cleanMembers(of: token, in: table, asOf: change) {
            guard let id = id(text, in: table), !seen.contains(id) else { continue }
            if try items.row(table, exactly: id)?.replaced.hasInsert(transaction.now) == true {
                continue
            }
            try tokens.removeMember(text, from: token)
            if try tokens.isClaimed(text, in: table, besides: token) { continue }
            if try items.remove(id, from: table, leavingTombstone: true) { removed += 1 }
        }
        return removed
    }

    private func id(_ text: String, in table: TableRecord) -> ItemID? {
        table.idKind == .integer ? Int64(text).map { ItemID($0) } : try? ItemID(text)
    }

    /// Removes unchanged items that a pull of the whole table has not received, and leaves tombstones.
    /// - Parameters:
    ///   - only: the items that may be removed; nil for all.
    ///   - older: see ``PullRequest/older``.
    /// - Returns: how many were removed, and how many stay although they were not received: this store has just
    ///   inserted them, and the pages may come from a copy that lags behind.
    func removeUnseen(
        _ seen: Set<ItemID>, from table: TableRecord, asOf change: Int64, only: Set<ItemID>?,
        older: PullRequest.OlderRows
    ) throws -> (removed: Int, kept: Int) {
        var (removed, kept) = (0, 0)
        for id in try list(seen, in: table, asOf: change) where only?.contains(id) ?? true {
            let before = try items.row(table, exactly: id)
            if older != .areTaken, before?.replaced.hasInsert(transaction.now) == true {
                kept += 1
                continue
            }
            guard try items.remove(id, from: table, leavingTombstone: true) else { continue }
            removed += 1
            // A row may also have left a part because of what was written here.
            guard table.part == nil, let before, let row = try items.row(table, exactly: id)
            else { continue }
            try replacedWrites.record(row, replacing: before)
        }
        return (removed, kept)
    }

    /// How many of the items that ``list(_:in:asOf:)`` gives the backend changed after a time.
    func count(
        _ seen: Set<ItemID>, in table: TableRecord, asOf change: Int64, after time: Instant
    ) throws -> Int {
        try list(seen, in: table, asOf: change).count { id in
            let known = try items.row(table, exactly: id)?.serverUpdatedAt
            return known.flatMap { Instant(parsing: $0) }.map { $0 > time } ?? false
        }
    }

    /// The unchanged items that a pull of the table's copy has not received. Items that were pushed after
    /// the pull began are left out, because they may be newer than its pages. Of a table that is copied in
    /// part, so are items that a query of the developer's returned.
    func list(
        _ seen: Set<ItemID>, in table: TableRecord, asOf change: Int64
    ) throws -> [ItemID] {
        let local: [String] = try transaction.column(
            """
            SELECT id FROM items
            WHERE table_id = ? AND deleted = 0 AND pending IS NULL AND settled_at <= ?
            """, [table.id, change])
        let unseen = local.compactMap { id($0, in: table) }.filter { !seen.contains($0) }
        if table.part == nil { return unseen }
        let claimed = try tokens.members(of: table)
        return unseen.filter { !claimed.contains($0.text) }
    }
}
