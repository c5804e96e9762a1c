import GRDB
import TablesProtocol

extension Transaction {
    /// The table's record, made by its first rows.
    func tableForRows(_ name: TableName, _ rows: [RemoteRow]) throws -> TableRecord {
        if let record = try table(name) { return record }
        return try makeTable(name, idKind: rows.first?.id.kind ?? .string)
    }

    /// Removes clean items that a pull of the whole table has not shown, leaving tombstones. Those
    /// that were pushed since the pull began may be too new for it. Returns how many.
    func removeUnseen(
        _ seen: Set<ItemID>, from table: TableRecord, asOf change: Int64
    ) throws -> Int {
        let local = try String.fetchAll(
            db,
            sql: """
                SELECT id FROM items
                WHERE table_id = ? AND deleted = 0 AND pending IS NULL AND settled_at <= ?
                """,
            arguments: [table.id, change])
        var removed = 0
        for text in local {
            let id = table.idKind == .integer ? Int64(text).map { ItemID($0) } : try? ItemID(text)
            guard let id, !seen.contains(id) else { continue }
            if try remove(id, from: table, leavingTombstone: true) { removed += 1 }
        }
        return removed
    }
}
