import GRDB

/// Brings a store's file to the present version.
enum Migration {
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in try db.execute(sql: Schema.version1) }
        migrator.registerMigration("2") { db in try db.execute(sql: Schema.version2) }
        migrator.registerMigration("3") { db in try db.execute(sql: Schema.version3) }
        migrator.registerMigration("4") { db in try db.execute(sql: Schema.version4) }
        migrator.registerMigration("5") { db in try db.execute(sql: Schema.version5) }
        migrator.registerMigration("6") { db in try db.execute(sql: Schema.version6) }
        migrator.registerMigration("7") { db in try db.execute(sql: Schema.version7) }
        migrator.registerMigration("9") { db in try db.execute(sql: Schema.version9) }
        migrator.registerMigration("10") { db in try db.execute(sql: Schema.version10) }
        migrator.registerMigration("11") { db in try db.execute(sql: Schema.version11) }
        migrator.registerMigration("12") { db in try db.execute(sql: Schema.version12) }
        migrator.registerMigration("13") { db in try db.execute(sql: Schema.version13) }
        return migrator
    }

    /// Makes or migrates the tables.
    /// - Throws: ``StoreError/newerVersion(_:)`` for a file that a newer version wrote.
    static func run(on writer: DatabaseQueue) throws {
        if try writer.read({ try migrator.hasBeenSuperseded($0) }) { throw newer }
        try migrator.migrate(writer)
    }

    /// Makes the tables of an earlier version in an empty file.
    static func run(on writer: DatabaseQueue, upTo version: Int) throws {
        guard migrator.migrations.contains(String(version)) else {
            throw StoreError.damaged("There never was a version \(version) of the store.")
        }
        try migrator.migrate(writer, upTo: String(version))
    }

    /// The names of the tables of a version.
    static func tables(of version: Int) throws -> [String] {
        let empty = try DatabaseQueue()
        try run(on: empty, upTo: version)
        return try empty.read(StoreRebuild.ownTables)
    }

    /// The version of a file's tables; nil for a file that is no store.
    /// - Throws: ``StoreError/newerVersion(_:)`` for a file that a newer version wrote.
    static func version(of db: Database) throws -> Int? {
        if try migrator.hasBeenSuperseded(db) { throw newer }
        return try migrator.appliedMigrations(db).compactMap { Int($0) }.max()
    }

    private static let newer = StoreError.newerVersion(
        "A newer version of Understudy wrote this store. Use that version, or a new folder.")
}
