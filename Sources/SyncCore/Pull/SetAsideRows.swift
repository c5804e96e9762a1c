import Storage
public import TablesProtocol

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
