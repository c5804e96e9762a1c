import GRDB

/// Brings a store's file to the present version.
enum Migration {
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in try db.execute(sql: Schema.version1) }
        migrator.registerMigration("2") { db in try db.execute(sql: Schema.version2) }
        return migrator
    }

    /// Makes or migrates the tables.
    /// - Throws: ``StoreError/newerVersion(_:)`` for a file that a newer version wrote.
    static func run(on writer: DatabaseQueue) throws {
        let isNewer = try writer.read { try migrator.hasBeenSuperseded($0) }
        if isNewer {
            throw StoreError.newerVersion(
                "A newer version of Understudy wrote this store. Use that version, or a new folder."
            )
        }
        try migrator.migrate(writer)
    }
}
