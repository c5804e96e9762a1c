import Storage
import TablesProtocol

/// The items that may have left the part of their table, until the backend has said so or not: `part_doubts`.
struct PartDoubts {
    let transaction: Transaction

    /// Adds those of the ids that the store has. An item with a local change is asked about once that is sent.
    func add(_ ids: [String], of table: TableRecord) throws {
        try transaction.run(
            """
            INSERT OR IGNORE INTO part_doubts SELECT table_id, id FROM items
            WHERE table_id = ?1 AND id IN (SELECT value FROM json_each(?2))
              AND (deleted = 0 OR pending IS NOT NULL)
            """, [table.id, JSONList.text(ids)])
    }

    /// Removes ids: the items are in the part, or were removed.
    func release(_ ids: [String], of table: TableRecord) throws {
        try transaction.run(
            """
            DELETE FROM part_doubts
            WHERE table_id = ?1 AND item_id IN (SELECT value FROM json_each(?2))
            """, [table.id, JSONList.text(ids)])
    }

    /// The next ids to ask about, in their order: items without local changes.
    /// - Parameter limit: the most ids.
    func next(of table: TableRecord, after id: String, limit: Int) throws -> [ItemID] {
        let texts: [String] = try transaction.column(
            """
            SELECT item_id FROM part_doubts JOIN items
              ON items.table_id = part_doubts.table_id AND items.id = item_id
            WHERE part_doubts.table_id = ?1 AND item_id > ?2 AND deleted = 0 AND pending IS NULL
            ORDER BY item_id LIMIT ?3
            """, [table.id, id, limit])
        return Self.first(texts.map { ItemID(stored: $0, kind: table.idKind) })
    }

    /// The first of some ids, whose texts have at most ``SyncLimits/doubtBytes`` bytes, or one.
    static func first(_ ids: [ItemID]) -> [ItemID] {
        var bytes = 0
        let first = ids.prefix { id in
            bytes += id.text.utf8.count
            return bytes <= SyncLimits.doubtBytes || id == ids[0]
        }
        return Array(first)
    }

    /// Forgets items that are deleted meanwhile.
    func forgetDeleted(of table: TableRecord) throws {
        try transaction.run(
            """
            DELETE FROM part_doubts WHERE table_id = ?1 AND NOT EXISTS (
              SELECT 1 FROM items WHERE items.table_id = ?1 AND items.id = item_id
                AND (deleted = 0 OR pending IS NOT NULL))
            """, [table.id])
    }

    /// Removes an item that has left the part, or that the backend has no more, and leaves a tombstone. An item
    /// stays in doubt that has a local change, was pushed after the backend was asked, or was inserted a moment ago
    /// and fits the part. One stays that a client's own pairs show, and of a part one that a query of the
    /// developer's returned.
    /// - Parameter generation: the backend's.
    /// - Returns: whether it was removed.
    func leave(
        _ id: ItemID, of table: TableRecord, asOf change: Int64, for generation: Generation
    ) throws -> Bool {
        guard let row = try transaction.items.row(table, exactly: id), row.pending == nil,
            row.settledAt <= change,
            try !row.replaced.hasInsert(transaction.now)
                || hasOthers(among: [id.text], in: table, of: generation)
        else { return false }
        try release([id.text], of: table)
        if try transaction.tokens.isMember(id.text, in: table, ofPairs: table.part == nil) {
            return false
        }
        return try transaction.items.remove(id, from: table, leavingTombstone: true)
    }

    /// Whether any of these items does not fit the filter of the part, by the rules of this program.
    /// - Parameter generation: the backend's.
    func hasOthers(
        among ids: [String], in table: TableRecord, of generation: Generation
    ) throws -> Bool {
        guard let filter = table.part?.query.filter else { return false }
        let spellings = table.spellings
        let fits = SQLCompiler(
            ItemSQLSchema(hasIntegerIDs: table.idKind == .integer),
            nulls: NullComparison(generation), spelling: { spellings.spelling(of: $0) }
        ).filter(filter)
        let others = try transaction.all(
            """
            SELECT id FROM items WHERE table_id = ? AND id IN (SELECT value FROM json_each(?))
              AND deleted = 0 AND pending IS NULL AND NOT coalesce(\(fits.text), 0) LIMIT 1
            """, [table.id, JSONList.text(ids)] + fits.arguments, keep: false
        ) { $0[0] as String }
        return !others.isEmpty
    }
}
