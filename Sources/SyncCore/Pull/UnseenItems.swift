import Storage
import TablesProtocol

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
