import TablesProtocol

/// Removes items that a complete pull has not received.
struct UnseenItems {
    let transaction: Transaction
    private var items: ItemTable { transaction.items }
    private var tokens: PullTokens { transaction.tokens }

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
    /// - Parameter only: the items that may be removed; nil for all.
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
