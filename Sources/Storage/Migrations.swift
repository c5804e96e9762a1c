import GRDB

/// The steps that bring a file to the present version of its tables.
///
/// The first step makes all tables of its version in an empty file. Once a version was released its step never
/// changes, and the next version appends one.
package struct Migrations: Sendable {
    /// The version that a step leads to, and its statements.
    package struct Step: Sendable {
        var version: Int
        var sql: String

        package init(version: Int, sql: String) {
            self.version = version
            self.sql = sql
        }
    }

    let steps: [Step]

    package init(steps: [Step]) { self.steps = steps }

    /// Runs the steps that a file has not had, each in a transaction of its own.
    /// - Throws: ``StorageError/newerVersion`` or ``StorageError/olderVersion`` for a file that no step leads on
    ///   from, which stays unchanged; the error of a step, after which the file is as the step before left it.
    package func run(on writer: ConnectionQueue) throws {
        _ = try writer.access(version)
        try migrator.migrate(writer.queue)
    }

    /// Makes the tables of a version in an empty file.
    package func run(on writer: ConnectionQueue, upTo version: Int) throws {
        guard steps.contains(where: { $0.version == version }) else {
            throw StorageError.unknownVersion(version)
        }
        try migrator.migrate(writer.queue, upTo: String(version))
    }

    /// The names of the tables of a version, and of the one that keeps the version.
    package func tables(of version: Int) throws -> [String] {
        let empty = try ConnectionQueue.inMemory()
        try run(on: empty, upTo: version)
        return try empty.access { try Self.ownTables($0) } + [Self.versions]
    }

    /// The version of a file's tables; nil for a file that never had any.
    /// - Throws: ``StorageError/newerVersion`` for a file of a version after the last step's,
    ///   ``StorageError/olderVersion`` for one of a version before the first step's.
    package func version(of connection: Connection) throws -> Int? {
        let applied = try migrator.appliedIdentifiers(connection.database)
        guard let version = applied.compactMap({ Int($0) }).max() else { return nil }
        if let last = steps.last, version > last.version { throw StorageError.newerVersion }
        if let first = steps.first, version < first.version { throw StorageError.olderVersion }
        return version
    }

    /// The tables of a file that its steps made, in the order of their making.
    package static func ownTables(_ connection: Connection) throws -> [String] {
        try connection.column(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
              AND name <> ? ORDER BY rowid
            """, [versions])
    }

    /// GRDB's table of the steps that a file has had.
    private static let versions = "grdb_migrations"

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for step in steps {
            migrator.registerMigration(String(step.version)) { try $0.execute(sql: step.sql) }
        }
        return migrator
    }
}
