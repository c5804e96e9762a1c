import Backend
import PostgreSQL
import TablesProtocol

/// The tables in PostgreSQL.
enum PostgreSQLTables {
    private static let select = """
        SELECT key, name, soft_delete, id_kind, needs_sign_in, declared_columns, seen_columns,
          last_stamp, last_number, first_effect, last_deletion, last_tombstone, indexes
        FROM tables WHERE folded = $1::text
        """

    /// The table with this name in any case; nil when there is none.
    static func find(_ connection: PostgreSQLConnection, _ name: TableName) throws -> TableRecord? {
        try connection.run(select, [.text(name.key)]).first.map { try record($0, name) }
    }

    /// The same with a lock: no other transaction gives a stamp or a number in the table before this one
    /// ends.
    static func lock(_ connection: PostgreSQLConnection, _ name: TableName) throws -> TableRecord? {
        try connection.run(select + " FOR UPDATE", [.text(name.key)]).first.map {
            try record($0, name)
        }
    }

    private static func record(_ row: PostgreSQLRow, _ name: TableName) throws -> TableRecord {
        let time = { (place: Int) in
            row.textOrNull(place).flatMap { Int64($0) }.map { Instant(ticks: $0) }
        }
        return TableRecord(
            key: try row.integer(0),
            table: StoredTable(
                name: TableName(try row.text(1)) ?? name,
                options: TableOptions(
                    softDelete: try row.boolean(2),
                    idKind: IDKind(rawValue: try row.text(3)) ?? .string,
                    needsSignIn: try row.boolean(4), columns: TableRecord.columns(try row.text(5))),
                seenColumns: TableRecord.columns(try row.text(6))),
            lastStamp: try row.integer(7), lastNumber: try row.integer(8),
            forgotten: ForgottenPast(
                firstEffect: time(9), lastDeletion: time(10), lastTombstone: time(11)),
            indexes: indexes(try row.text(12)))
    }

    /// Indexes as a text: `[["+price"],["-due"]]`.
    static func text(_ indexes: [IndexShape]) -> String {
        let terms = indexes.map { index in
            let name = index.text.split(separator: " ").first ?? ""
            return JSONValue.array([.string((index.text.hasSuffix(" desc") ? "-" : "+") + name)])
        }
        return JSONValue.array(terms).text
    }

    private static func indexes(_ text: String) -> [IndexShape] {
        let lists = (try? JSONValue(parsing: text))?.array ?? []
        return lists.compactMap { list in
            guard let term = list.array?.first?.string else { return nil }
            return IndexShape(term.dropFirst() + (term.hasPrefix("-") ? " desc" : ""))
        }
    }

    /// Makes a table; one that exists takes the options where they are declared.
    static func make(
        _ connection: PostgreSQLConnection, _ name: TableName, _ options: TableOptions,
        changing: Bool
    ) throws {
        let conflict =
            changing
            ? """
            UPDATE SET soft_delete = excluded.soft_delete, id_kind = excluded.id_kind,
              needs_sign_in = excluded.needs_sign_in, declared_columns = excluded.declared_columns
            """ : "NOTHING"
        try connection.run(
            """
            INSERT INTO tables (name, folded, soft_delete, id_kind, needs_sign_in, declared_columns)
            VALUES ($1::text, $2::text, $3::boolean, $4::text, $5::boolean, $6::text)
            ON CONFLICT (folded) DO \(conflict)
            """,
            [
                .text(name.text), .text(name.key), .boolean(options.softDelete),
                .text(options.idKind.rawValue), .boolean(options.needsSignIn),
                .text(TableRecord.text(options.columns)),
            ])
    }

    /// Keeps what a write changed in a table.
    static func save(_ connection: PostgreSQLConnection, _ record: TableRecord) throws {
        try connection.run(
            """
            UPDATE tables SET last_stamp = $1::bigint, last_number = $2::bigint,
              seen_columns = $3::text WHERE key = $4::bigint
            """,
            [
                .integer(record.lastStamp), .integer(record.lastNumber),
                .text(TableRecord.text(record.table.seenColumns)), .integer(record.key),
            ])
    }
}

/// The backend's schema in PostgreSQL, and its way from one version to the next.
enum PostgreSQLSchema {
    /// A step that was released never changes; a new one comes after it.
    static let steps = [
        String(decoding: PackageResources.Schema_sql, as: UTF8.self), arrivals, expiry,
        String(decoding: PackageResources.Partitions_sql, as: UTF8.self),
    ]

    /// One line for each item that came from another backend: the stamp that it had there, and version and
    /// stamp as it was stored here.
    private static let arrivals = """
        CREATE TABLE arrivals (
          table_key bigint NOT NULL,
          id text COLLATE "C" NOT NULL,
          origin_ticks bigint,
          version text COLLATE "C" NOT NULL,
          stamp_ticks bigint NOT NULL,
          PRIMARY KEY (table_key, id)
        );
        """

    /// What must be known of effects and tombstones that were removed (``ForgottenPast``, in ticks), and indexes by
    /// which they are found. `deleted_here`: a client has deleted the row here, and the trace of that was removed.
    private static let expiry = """
        ALTER TABLE tables ADD COLUMN first_effect bigint, ADD COLUMN last_deletion bigint,
          ADD COLUMN last_tombstone bigint;
        ALTER TABLE arrivals ADD COLUMN deleted_here boolean NOT NULL DEFAULT false;
        CREATE INDEX effects_by_time ON effects (folded, at);
        CREATE INDEX tombstones_by_stamp ON items (table_key, stamp) WHERE deleted;
        """

    /// The lock that a node holds while it looks at the schema: `understd` as a number.
    static let lock: Int64 = 0x756E_6465_7273_7464

    /// Makes the schema what this program needs. Other nodes that start wait meanwhile, as long as it takes.
    /// - Parameter start: the moment from which versions are counted; nil counts on from the last one.
    /// - Throws: ``NewerSchema`` where a newer program has been here.
    static func migrate(
        _ pool: PostgreSQLPool, schema: String, startedAt start: Instant? = nil
    ) throws {
        var attempts = 0
        while true {
            do {
                return try migrateOnce(pool, schema: schema, startedAt: start)
            } catch let error as PostgreSQLError
                where error.isSerializationFailure && attempts < Limits.migrationAttempts
            {
                // A node that runs had a lock, and waited for another one.
                attempts += 1
            }
        }
    }

    private static func migrateOnce(
        _ pool: PostgreSQLPool, schema: String, startedAt start: Instant?
    ) throws {
        // A start without a server fails at once.
        try pool.withConnection { connection in
            try connection.transaction(.readCommitted, isLong: true) {
                () throws -> PostgreSQLPool.End<Void> in
                try connection.run("SELECT pg_advisory_xact_lock($1::bigint)", [.integer(lock)])
                let there = try connection.run(
                    "SELECT 1 FROM pg_namespace WHERE nspname = $1::name", [.text(schema)])
                if there.isEmpty {
                    let name = PostgreSQLConnection.identifier(schema)
                    try connection.run(script: "CREATE SCHEMA \(name)")
                }
                try connection.run(
                    script: "CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)")
                let version =
                    try connection.run("SELECT max(version) FROM schema_version")
                    .first.flatMap { $0.textOrNull(0) }.flatMap { Int($0) } ?? 0
                guard version <= steps.count else {
                    throw NewerSchema(found: version, known: steps.count)
                }
                for (place, step) in steps.enumerated().dropFirst(version) {
                    try connection.run(script: step)
                    try connection.run(
                        "INSERT INTO schema_version VALUES ($1::bigint)",
                        [.integer(Int64(place + 1))])
                }
                if let start { try PostgreSQLArrivals.beginVersions(connection, at: start) }
                return .commit(())
            }
        }
    }
}
