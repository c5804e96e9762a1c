import GRDB

/// The steps that bring a store's file to the present version.
///
/// The first one makes the whole schema, `Schema.sql`. Once a version was released its step never
/// changes, and the next version appends one.
struct Migrations: Sendable {
    /// The version that a step leads to, and its statements.
    struct Step: Sendable {
        var version: Int
        var sql: String
    }

    let steps: [Step]

    /// Those of this program.
    static let present = Migrations(steps: [
        Step(version: 1, sql: String(decoding: PackageResources.Schema_sql, as: UTF8.self))
    ])

    /// Runs the steps that a file has not had, each in a transaction of its own.
    /// - Throws: ``StoreError/newerVersion(_:)`` for a file that a newer version wrote; the error of a
    ///   step, after which the file is as the step before left it.
    func run(on writer: DatabaseQueue) throws {
        if try writer.read({ try migrator.hasBeenSuperseded($0) }) { throw Self.newer }
        try migrator.migrate(writer)
    }

    /// Makes the tables of a version in an empty file.
    func run(on writer: DatabaseQueue, upTo version: Int) throws {
        guard steps.contains(where: { $0.version == version }) else {
            throw StoreError.damaged("There never was a version \(version) of the store.")
        }
        try migrator.migrate(writer, upTo: String(version))
    }

    /// The names of the tables of a version.
    func tables(of version: Int) throws -> [String] {
        let empty = try DatabaseQueue()
        try run(on: empty, upTo: version)
        return try empty.read(StoreRebuild.ownTables)
    }

    /// The version of a file's tables; nil for a file that is no store.
    /// - Throws: ``StoreError/newerVersion(_:)`` for a file that a newer version wrote.
    func version(of db: Database) throws -> Int? {
        if try migrator.hasBeenSuperseded(db) { throw Self.newer }
        return try migrator.appliedMigrations(db).compactMap { Int($0) }.max()
    }

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for step in steps {
            migrator.registerMigration(String(step.version)) { try $0.execute(sql: step.sql) }
        }
        return migrator
    }

    private static let newer = StoreError.newerVersion(
        "A newer version of Understudy wrote this store, or a build from before the first release. Use "
            + "that version, or a new folder.")
}
