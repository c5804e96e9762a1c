import PostgreSQL
import TablesProtocol

/// The log of effects in PostgreSQL.
enum PostgreSQLEffects {
    /// A line of the log, as no other database has it.
    struct Line: Sendable {
        let number: Int64
        let marker: String
    }

    /// Logs an effect in the transaction that has it.
    static func add(
        _ connection: PostgreSQLConnection, _ record: TableRecord, _ id: String,
        _ kind: Effect.Kind, _ write: Write
    ) throws -> Line {
        let rows = try connection.run(
            """
            INSERT INTO effects (table_name, folded, item_id, kind, method, idempotency_key, at)
            VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::bigint)
            RETURNING number, marker
            """,
            [
                .text(record.table.name.text), .text(record.table.name.key), .text(id),
                .text(kind.rawValue), .text(write.method), PostgreSQLValue(write.idempotencyKey),
                .integer(write.at.ticks),
            ])
        guard let row = rows.first else { throw PostgreSQLError.unexpectedAnswer }
        return Line(number: try row.integer(0), marker: try row.text(1))
    }

    /// Whether a line was committed.
    static func has(_ connection: PostgreSQLConnection, _ line: Line) throws -> Bool {
        try !connection.run(
            "SELECT 1 FROM effects WHERE number = $1::bigint AND marker = $2::uuid",
            [.integer(line.number), .text(line.marker)]
        ).isEmpty
    }

    /// Whether a table had any effect.
    static func has(_ connection: PostgreSQLConnection, _ table: TableName) throws -> Bool {
        try !connection.run(
            "SELECT 1 FROM effects WHERE folded = $1::text LIMIT 1", [.text(table.key)]
        ).isEmpty
    }

    /// The effects after a number, in order. Numbers are given in the order of commits within one table only:
    /// one of another table may become visible after a higher one.
    static func list(
        _ connection: PostgreSQLConnection, after: Int64, limit: Int
    ) throws -> [Effect] {
        try connection.run(
            """
            SELECT number, table_name, item_id, kind, method, idempotency_key, at FROM effects
            WHERE number > $1::bigint ORDER BY number LIMIT $2::bigint
            """, [.integer(after), .integer(Int64(limit))]
        ).map { row in
            Effect(
                number: try row.integer(0), table: try row.text(1), itemID: try row.text(2),
                kind: Effect.Kind(rawValue: try row.text(3)) ?? .update, method: try row.text(4),
                idempotencyKey: row.textOrNull(5), at: Instant(ticks: try row.integer(6)))
        }
    }

    /// The number of effects on an item.
    static func count(
        _ connection: PostgreSQLConnection, _ table: TableName, _ id: String
    ) throws -> Int {
        if id.utf8.contains(0) { return 0 }
        let rows = try connection.run(
            "SELECT count(*) FROM effects WHERE folded = $1::text AND item_id = $2::text",
            [.text(table.key), .text(id)])
        return Int(try rows.first?.integer(0) ?? 0)
    }
}
