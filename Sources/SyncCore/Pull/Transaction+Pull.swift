import TablesProtocol

extension Transaction {
    /// The table's record, made by its first rows, which also say what its ids are.
    func tableForRows(_ name: TableName, _ rows: [ListElement]) throws -> TableRecord {
        let kind = rows.lazy.compactMap(\.row).first?.id.kind ?? .string
        var record = try makeTable(name, idKind: kind)
        switch kind {
        case .integer: try adoptIntegerIDs(&record)
        case .string where rows.contains(where: { $0.row != nil }): try adoptStringIDs(&record)
        case .string: break
        }
        return record
    }

    /// Notes which items a query brings now, and which it brings no more.
    func note(_ rows: some Sequence<ListElement>, of token: PullToken) throws {
        for row in rows.lazy.compactMap(\.row) {
            if row.isDeleted {
                try removeMember(row.id.text, from: token)
            } else {
                try addMember(row.id, to: token)
            }
        }
    }

    /// Lets go of clean items that a query brought once and a whole pull of it has not shown: they
    /// left the query, or the backend no longer has them. Items that something else brought as well
    /// stay. Returns how many were removed.
    func removeLeft(
        _ seen: Set<ItemID>, _ token: PullToken, from table: TableRecord, asOf change: Int64
    ) throws -> Int {
        var removed = 0
        for text in try cleanMembers(of: token, in: table, asOf: change) {
            guard let id = id(text, in: table), !seen.contains(id) else { continue }
            try removeMember(text, from: token)
            if try isClaimed(text, in: table, besides: token) { continue }
            if try remove(id, from: table, leavingTombstone: true) { removed += 1 }
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
        for id in try unseen(seen, in: table, asOf: change) where only?.contains(id) ?? true {
            if try remove(id, from: table, leavingTombstone: true) { removed += 1 }
        }
        return removed
    }

    /// Clean items that a pull of the whole table has not shown. Those that were pushed since the pull
    /// began are not among them: they may be too new for it.
    func unseen(
        _ seen: Set<ItemID>, in table: TableRecord, asOf change: Int64
    ) throws -> [ItemID] {
        let local: [String] = try column(
            """
            SELECT id FROM items
            WHERE table_id = ? AND deleted = 0 AND pending IS NULL AND settled_at <= ?
            """, [table.id, change])
        return local.compactMap { id($0, in: table) }.filter { !seen.contains($0) }
    }
}
