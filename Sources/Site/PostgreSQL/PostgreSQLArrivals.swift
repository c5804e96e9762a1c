import Backend
import PostgreSQL
import TablesProtocol

/// The rows in PostgreSQL that came from another backend: `arrivals` beside `items`.
enum PostgreSQLArrivals {
    /// The row, arrival and deletion known for each id; ids that were never stored are left out.
    static func knownRows(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ ids: [ItemID]
    ) throws -> [ItemID: KnownRow] {
        let wanted = jsonArray(ids)
        let list = "(SELECT jsonb_array_elements_text($2::jsonb))"
        var knownRows: [ItemID: KnownRow] = [:]
        for row in try connection.run(
            """
            SELECT \(PostgreSQLItems.selectedColumns) FROM \(PostgreSQLItems.partition(table.key))
            WHERE table_key = $1::bigint AND id IN \(list)
            """, [.integer(table.key), wanted])
        {
            let item = try PostgreSQLItems.row(row)
            knownRows[ItemID(stored: item.id, kind: .string), default: KnownRow()].row = item
        }
        for row in try connection.run(
            """
            SELECT id, origin_ticks, version, stamp_ticks, deleted_here FROM arrivals
            WHERE table_key = $1::bigint AND id IN \(list)
            """, [.integer(table.key), wanted])
        {
            let id = ItemID(stored: try row.text(0), kind: .string)
            knownRows[id, default: KnownRow()].arrival = Arrival(
                updatedAt: row.textOrNull(1).flatMap { Int64($0) }.map { Instant(ticks: $0) },
                version: try row.text(2), stamp: Instant(ticks: try row.integer(3)))
            let isDeletedHere = try row.boolean(4)
            if knownRows[id]?.row == nil { knownRows[id]?.isDeletedForGood = isDeletedHere }
        }
        let absent = ids.filter { knownRows[$0]?.row == nil }
        if absent.isEmpty { return knownRows }
        for id in try deleted(connection, table.table.name, among: jsonArray(absent)) {
            knownRows[id, default: KnownRow()].isDeletedForGood = true
        }
        if let times = table.forgotten.rowsWithoutTrace {
            for id in absent { knownRows[id, default: KnownRow()].rowsWithoutTrace = times }
        }
        return knownRows
    }

    /// The items whose last effect is a delete; the ids are a JSON array.
    private static func deleted(
        _ connection: PostgreSQLConnection, _ table: TableName, among ids: PostgreSQLValue
    ) throws -> [ItemID] {
        try connection.run(
            """
            SELECT item_id FROM (
              SELECT DISTINCT ON (item_id) item_id, kind FROM effects
              WHERE folded = $1::text
                AND item_id IN (SELECT jsonb_array_elements_text($2::jsonb))
              ORDER BY item_id, number DESC
            ) AS last WHERE kind = 'delete'
            """, [.text(table.key), ids]
        ).map { ItemID(stored: try $0.text(0), kind: .string) }
    }

    /// Ids as a JSON array. PostgreSQL's texts have no U+0000, so an id with it is nowhere, and is left out.
    private static func jsonArray(_ ids: [ItemID]) -> PostgreSQLValue {
        let texts = ids.map(\.text).filter { !$0.utf8.contains(0) }
        return .text(JSONValue.array(texts.map { .string($0) }).text)
    }

    /// The lock of the sequence while it is set: `undersvn` as a number.
    private static let versionsLock: Int64 = 0x756E_6465_7273_766E

    /// Sets the sequence of versions so that the database gives none that was given before this moment,
    /// be it by the other backend of a move, or by itself after the backup from which it was restored.
    ///
    /// The sequence never goes back, or a version would be given twice: nodes take numbers meanwhile, so it is
    /// set only where it is behind, and by one transaction at a time.
    static func beginVersions(_ connection: PostgreSQLConnection, at instant: Instant) throws {
        try connection.run("SELECT pg_advisory_xact_lock($1::bigint)", [.integer(versionsLock)])
        try connection.run(
            "SELECT setval('versions', $1::bigint) FROM versions WHERE last_value < $1::bigint",
            [.integer(instant.milliseconds)])
    }

    /// Writes rows with their own stamps and versions, and their arrivals, in one statement, because a
    /// database may be far away. No id may come twice.
    static func put(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ rows: [Moving.Placed],
        _ move: Move, _ versions: PostgreSQLItems.Versions
    ) throws {
        if rows.isEmpty { return }
        try connection.run(
            """
            WITH moved AS (
              SELECT * FROM jsonb_to_recordset($2::jsonb) AS row(id text, columns text,
                content text, moments text, created_at bigint, created_ticks bigint,
                stamp bigint, stamp_ticks bigint, version text, deleted boolean,
                origin_ticks bigint)
            ), written AS (
              INSERT INTO \(PostgreSQLItems.partition(table.key)) (table_key, id, columns, content, moments, created_at,
                created_ticks, stamp, stamp_ticks, version, deleted, revision)
              SELECT $1::bigint, id, columns, content::jsonb, moments::jsonb, created_at,
                created_ticks, stamp, stamp_ticks,
                coalesce(version, \(versions.next("$3::bigint"))), deleted, $3::bigint FROM moved
              ON CONFLICT (table_key, id) DO UPDATE SET columns = excluded.columns,
                content = excluded.content, moments = excluded.moments,
                created_at = excluded.created_at, created_ticks = excluded.created_ticks,
                stamp = excluded.stamp, stamp_ticks = excluded.stamp_ticks,
                version = excluded.version, deleted = excluded.deleted,
                revision = excluded.revision
              RETURNING id, version
            )
            INSERT INTO arrivals (table_key, id, origin_ticks, version, stamp_ticks)
            SELECT $1::bigint, id, moved.origin_ticks, written.version, moved.stamp_ticks
              FROM written JOIN moved USING (id)
            ON CONFLICT (table_key, id) DO UPDATE SET origin_ticks = excluded.origin_ticks,
              version = excluded.version, stamp_ticks = excluded.stamp_ticks
            """,
            [
                .integer(table.key), .text(JSONValue.array(rows.map(Self.record)).text),
                .integer(move.at.milliseconds),
            ])
    }

    /// Removes the rows whose deletions came from the other backend, and writes their arrivals, in one
    /// statement.
    static func remove(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ rows: [Moving.Placed]
    ) throws {
        if rows.isEmpty { return }
        let arrivals = rows.map { placed in
            let origin = placed.row.updatedAt.map { JSONValue.number(JSONNumber($0.ticks)) }
            return JSONValue.object([
                .init("id", .string(placed.row.id)),
                .init("version", .string(placed.row.version ?? "")),
                .init("stamp_ticks", .number(JSONNumber(placed.stamp.ticks))),
                .init("origin_ticks", origin ?? .null),
            ])
        }
        try connection.run(
            """
            WITH moved AS (
              SELECT * FROM jsonb_to_recordset($2::jsonb) AS row(id text, version text,
                stamp_ticks bigint, origin_ticks bigint)
            ), removed AS (
              DELETE FROM \(PostgreSQLItems.partition(table.key))
              WHERE table_key = $1::bigint AND id IN (SELECT moved.id FROM moved)
            )
            INSERT INTO arrivals (table_key, id, origin_ticks, version, stamp_ticks)
            SELECT $1::bigint, id, origin_ticks, version, stamp_ticks FROM moved
            ON CONFLICT (table_key, id) DO UPDATE SET origin_ticks = excluded.origin_ticks,
              version = excluded.version, stamp_ticks = excluded.stamp_ticks
            """, [.integer(table.key), .text(JSONValue.array(arrivals).text)])
    }

    private static func record(_ placed: Moving.Placed) -> JSONValue {
        let row = placed.row
        let content = PostgreSQLContent(row.columns)
        let texts = [
            ("id", row.id), ("columns", row.columns.text), ("content", content.values),
            ("moments", content.moments), ("version", row.version),
        ]
        let numbers = [
            ("created_at", placed.createdAt.milliseconds),
            ("created_ticks", placed.createdAt.ticks),
            ("stamp", placed.stamp.milliseconds), ("stamp_ticks", placed.stamp.ticks),
            ("origin_ticks", row.updatedAt?.ticks),
        ]
        return .object(
            texts.map { .init($0.0, $0.1.map(JSONValue.string) ?? .null) }
                + numbers.map { .init($0.0, $0.1.map { .number(JSONNumber($0)) } ?? .null) }
                + [.init("deleted", .bool(row.deleted))])
    }
}

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
        _ kind: EffectKind, _ write: Write
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

    /// Whether a table had any effect, also one that is no longer kept.
    static func has(_ connection: PostgreSQLConnection, _ record: TableRecord) throws -> Bool {
        if record.forgotten.firstEffect != nil { return true }
        return try !connection.run(
            "SELECT 1 FROM effects WHERE folded = $1::text LIMIT 1", [.text(record.table.name.key)]
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
                kind: EffectKind(rawValue: try row.text(3)) ?? .update, method: try row.text(4),
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
