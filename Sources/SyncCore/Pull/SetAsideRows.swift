import Storage
public import TablesProtocol

/// A row of the backend that is not here, since it cannot be taken.
public struct SetAsideRow: Sendable, Hashable {
    /// Its id, where one can be read; it may be one that no item can have.
    public var id: String?
    /// As the backend sent it, at most ``SyncLimits/setAsideBytes`` bytes of it.
    public var text: String
    /// Why it cannot be taken: a sentence.
    public var reason: String
    /// When it first came.
    public var since: Instant
    /// When it last came.
    public var seenAt: Instant
}

/// The rows of the backend that cannot be taken: `set_aside_rows`.
struct SetAsideRows {
    let transaction: Transaction

    /// Keeps a row that cannot be taken, or renews what is kept of it.
    func keep(_ row: OddRow, of table: TableRecord) throws {
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

    /// How many rows of a table are set aside.
    func count(of tableID: Int64) throws -> Int {
        Int(
            try transaction.integer(
                "SELECT count(*) FROM set_aside_rows WHERE table_id = ?", [tableID]) ?? 0)
    }

    /// Lets go of a row that was set aside: it came well, or the backend no longer has it.
    func release(_ id: String, of table: TableRecord) throws {
        try transaction.run(
            "DELETE FROM set_aside_rows WHERE table_id = ? AND name = ?", [table.id, "id:\(id)"])
    }

    /// Lets go of what a pull of the whole table, begun then, has not shown.
    func releaseUnseen(since begun: Instant, of table: TableRecord) throws {
        try transaction.run(
            "DELETE FROM set_aside_rows WHERE table_id = ? AND seen_at < ?",
            [table.id, begun.milliseconds])
    }

    /// The ids to ask the backend for once more, of rows that neither came nor were asked for since then:
    /// those asked longest ago first.
    func ids(of table: TableRecord, before begun: Instant, limit: Int) throws -> [String] {
        try transaction.column(
            """
            SELECT id FROM set_aside_rows
            WHERE table_id = ? AND id IS NOT NULL AND asked_at < ?
            ORDER BY asked_at, name LIMIT ?
            """, [table.id, begun.milliseconds, limit])
    }

    /// Notes that a row was asked for, and nothing could be learned.
    func noteAsked(_ id: String, of table: TableRecord) throws {
        try transaction.run(
            "UPDATE set_aside_rows SET asked_at = ? WHERE table_id = ? AND name = ?",
            [transaction.now.milliseconds, table.id, "id:\(id)"])
    }

    /// A page of the rows that are set aside, in the order of their names.
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
                    id: row[1], text: row[2], reason: row[3], since: Instant(milliseconds: row[4]),
                    seenAt: Instant(milliseconds: row[5]))
            )
        }
    }

    /// Tells a row from the others of its table; one without an id by its text (FNV-1a).
    private static func name(_ row: OddRow) -> String {
        if let id = row.id { return "id:\(id)" }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in row.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "text:" + String(hash, radix: 16)
    }
}
