import GRDB
import TablesProtocol

/// Makes a store anew from the rows of a file that may be another's work.
///
/// Nothing of the file's own schema comes along: its triggers, views, indexes and further tables stay
/// behind, since a planted trigger would act on every later write. The rows go into the tables that
/// this program makes, column by column, as values.
enum StoreRebuild {
    /// Fills an empty file with the rows of a store, in the version of that store.
    /// - Throws: ``StoreError`` where a table is missing, is no table, or holds a name that none can have.
    static func copy(_ source: DatabaseQueue, to copy: DatabaseQueue) throws {
        try source.read { old in
            guard let version = try Migrations.present.version(of: old) else {
                throw StoreError.damaged("The backup is no store of Understudy.")
            }
            try Migrations.present.run(on: copy, upTo: version)
            try copy.write { new in
                try new.execute(sql: "PRAGMA defer_foreign_keys = ON")
                let triggers = try Row.fetchAll(
                    new, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
                for trigger in triggers {
                    try new.execute(
                        sql: "DROP TRIGGER \((trigger[0] as String).quotedDatabaseIdentifier)")
                }
                for table in try ownTables(new) { try copyRows(of: table, from: old, to: new) }
                try copySequences(from: old, to: new)
                for trigger in triggers { try new.execute(sql: trigger[1]) }
                try refuseForeignNames(new)
            }
        }
    }

    /// The tables of a file that this program made, in the order of their making.
    static func ownTables(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                  AND name <> 'grdb_migrations' ORDER BY rowid
                """)
    }

    /// Refuses a file that has a view, or a table of a module, under the name of a table: what is read
    /// there may have no end.
    static func refuseFalseTables(_ db: Database, version: Int) throws {
        let kinds = try Row.fetchAll(
            db, sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
        var kindOf: [String: String] = [:]
        for kind in kinds { kindOf[(kind[0] as String).lowercased()] = kind[1] }
        for table in try Migrations.present.tables(of: version) + ["grdb_migrations"] {
            switch kindOf[table.lowercased()] {
            case "table": continue
            case nil: throw StoreError.damaged("The table \(table) is missing.")
            case let kind?: throw StoreError.damaged("\(table) is a \(kind), not a table.")
            }
        }
    }

    private static func copyRows(
        of table: String, from old: Database, to new: Database
    ) throws {
        // Hidden and generated columns are not among them.
        let columns = try columns(of: table, new)
        let there = Set(try self.columns(of: table, old).map { $0.lowercased() })
        if let missing = columns.first(where: { !there.contains($0.lowercased()) }) {
            throw StoreError.damaged("The table \(table) has no column \(missing).")
        }
        let name = table.quotedDatabaseIdentifier
        let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try new.execute(sql: "DELETE FROM \(name)")
        let insert = try new.makeStatement(sql: "INSERT INTO \(name)(\(list)) VALUES (\(places))")
        let rows = try Row.fetchCursor(old, sql: "SELECT \(list) FROM \(name)")
        while let row = try rows.next() {
            try insert.execute(arguments: StatementArguments(Array(row.databaseValues)))
        }
    }

    private static func columns(of table: String, _ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
    }

    /// Numbers that were given once are not given again, as far as a store can have given them: after
    /// the largest number that SQLite knows no row can be written. What lies beyond
    /// ``StoreLimits/rowNumber`` is not copied, and the numbers go on from those of the rows.
    /// - Throws: ``StoreError`` where a row itself has such a number.
    private static func copySequences(from old: Database, to new: Database) throws {
        // The rows that were copied have set the sequences of their tables.
        let excess = try String.fetchOne(
            new, sql: "SELECT name FROM sqlite_sequence WHERE seq > ?",
            arguments: [StoreLimits.rowNumber])
        if let excess {
            throw StoreError.damaged("A row of \(excess) has a number that no row can have.")
        }
        // SQLite's own table takes values of any type.
        let sequences = try Row.fetchAll(
            old,
            sql: """
                SELECT name, seq FROM sqlite_sequence
                WHERE typeof(name) = 'text' AND typeof(seq) = 'integer'
                """)
        for sequence in sequences {
            guard let name = sequence[0] as String?, let last = sequence[1] as Int64? else {
                continue
            }
            guard last <= StoreLimits.rowNumber, try new.tableExists(name) else { continue }
            let used = try Int64.fetchOne(
                new, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [name])
            try new.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [name])
            try new.execute(
                sql: "INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)",
                arguments: [name, max(last, used ?? 0)])
        }
    }

    /// Refuses names of tables that no client could have given, and ids that are none (see `ItemID`).
    private static func refuseForeignNames(_ db: Database) throws {
        let names = try Row.fetchAll(db, sql: "SELECT name, name_key FROM tables")
        for row in names {
            guard let text = row[0] as String?, let key = row[1] as String?,
                TableName(text)?.key == key
            else { throw StoreError.damaged("A table has a name that no table can have.") }
        }
        let ids = try String.fetchCursor(db, sql: "SELECT id FROM items")
        while let id = try ids.next() {
            if (try? ItemID(id)) == nil {
                throw StoreError.damaged("An item has an id that no item can have.")
            }
        }
    }
}
