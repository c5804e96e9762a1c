import TablesProtocol

/// Lets go of items that a whole pull has not shown.
struct UnseenItems {
    let transaction: Transaction
    private var items: ItemTable { transaction.items }
    private var tokens: PullTokens { transaction.tokens }

    /// Lets go of clean items that a query brought once and a whole pull of it has not shown: they
    /// left the query, or the backend no longer has them. Items that something else brought as well
    /// stay. Returns how many were removed.
    func removeLeft(
        _ seen: Set<ItemID>, _ token: PullToken, from table: TableRecord, asOf change: Int64
    ) throws -> Int {
        var removed = 0
        for text in try tokens.cleanMembers(of: token, in: table, asOf: change) {
            guard let id = id(text, in: table), !seen.contains(id) else { continue }
            try tokens.removeMember(text, from: token)
            if try tokens.isClaimed(text, in: table, besides: token) { continue }
            if try items.remove(id, from: table, leavingTombstone: true) { removed += 1 }
        }
        return removed
    }

    private func id(_ text: String, in table: TableRecord) -> ItemID? {
        table.idKind == .integer ? Int64(text).map { ItemID($0) } : try? ItemID(text)
    }

    /// Removes clean items that a pull of the whole table has not shown, leaving tombstones.
    /// - Parameter only: those that may be removed; nil for all.
    /// - Returns: how many were removed.
    func removeUnseen(
        _ seen: Set<ItemID>, from table: TableRecord, asOf change: Int64, only: Set<ItemID>?
    ) throws -> Int {
        var removed = 0
        for id in try list(seen, in: table, asOf: change) where only?.contains(id) ?? true {
            if try items.remove(id, from: table, leavingTombstone: true) { removed += 1 }
        }
        return removed
    }

    /// Clean items that a pull of the whole table has not shown. Those that were pushed since the pull
    /// began are not among them: they may be too new for it.
    func list(
        _ seen: Set<ItemID>, in table: TableRecord, asOf change: Int64
    ) throws -> [ItemID] {
        let local: [String] = try transaction.column(
            """
            SELECT id FROM items
            WHERE table_id = ? AND deleted = 0 AND pending IS NULL AND settled_at <= ?
            """, [table.id, change])
        return local.compactMap { id($0, in: table) }.filter { !seen.contains($0) }
    }
}
