import PostgreSQL
import TablesProtocol

/// The backend's schema in PostgreSQL, and its way from one version to the next.
enum PostgreSQLSchema {
    /// A step that was released never changes; a new one comes after it.
    private static let steps = [
        String(decoding: PackageResources.Schema_sql, as: UTF8.self), arrivals,
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

    /// The lock that a node holds while it looks at the schema: `understd` as a number.
    static let lock: Int64 = 0x756E_6465_7273_7464

    /// Makes the schema what this program needs. Other nodes that start wait meanwhile, as long as it takes.
    /// - Parameter start: the moment from which versions are counted; nil counts on from the last one.
    /// - Throws: ``NewerSchema`` where a newer program has been here.
    static func migrate(
        _ pool: PostgreSQLPool, schema: String, startedAt start: Instant? = nil
    ) throws {
        // Tried once: a start without a server fails at once.
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
