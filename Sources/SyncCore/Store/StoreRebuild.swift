import Storage
import TablesProtocol

/// Makes a store anew from the rows of a file that may be another's work.
///
/// Nothing of the file's own schema comes along: its triggers, views, indexes and further tables stay
/// behind, since a planted trigger would act on every later write. The rows go into the tables that
/// this program makes, column by column, as values.
enum StoreRebuild {
    /// Fills an empty file with the rows of a store, in the version of that store.
    /// - Throws: ``StoreError`` where a table is missing, is no table, or holds a name that none can have.
    static func copy(_ source: ConnectionQueue, to copy: ConnectionQueue) throws {
        try source.access { old in
            try old.transaction(.deferred) {
                guard let version = try Migrations.present.version(of: old) else {
                    throw StoreError.damaged("The backup is no store of Understudy.")
                }
                try Migrations.present.run(on: copy, upTo: version)
                try copy.access { new in
                    try new.transaction(.immediate) { try copyRows(from: old, to: new) }
                }
            }
        }
    }

    private static func copyRows(from old: Connection, to new: Connection) throws {
        try new.run("PRAGMA defer_foreign_keys = ON")
        let triggers = try new.all("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'") {
            (name: $0[0] as String, sql: $0[1] as String)
        }
        for trigger in triggers { try new.run("DROP TRIGGER \(quoted(trigger.name))", keep: false) }
        for table in try Migrations.ownTables(new) { try copyRows(of: table, from: old, to: new) }
        try copySequences(from: old, to: new)
        for trigger in triggers { try new.run(trigger.sql, keep: false) }
        try refuseForeignNames(new)
    }

    /// Refuses a file that has a view, or a table of a module, under the name of a table: what is read
    /// there may have no end.
    static func refuseFalseTables(_ db: Connection, version: Int) throws {
        let kinds = try db.all("SELECT name, type FROM pragma_table_list WHERE schema = 'main'") {
            (name: ($0[0] as String).lowercased(), kind: $0[1] as String)
        }
        let kindOf = Dictionary(kinds.map { ($0.name, $0.kind) }, uniquingKeysWith: { $1 })
        for table in try Migrations.present.tables(of: version) {
            switch kindOf[table.lowercased()] {
            case "table": continue
            case nil: throw StoreError.damaged("The table \(table) is missing.")
            case let kind?: throw StoreError.damaged("\(table) is a \(kind), not a table.")
            }
        }
    }

    private static func copyRows(
        of table: String, from old: Connection, to new: Connection
    ) throws {
        // Hidden and generated columns are not among them.
        let columns = try columns(of: table, new)
        let there = Set(try self.columns(of: table, old).map { $0.lowercased() })
        if let missing = columns.first(where: { !there.contains($0.lowercased()) }) {
            throw StoreError.damaged("The table \(table) has no column \(missing).")
        }
        let name = quoted(table)
        let list = columns.map(quoted).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try new.run("DELETE FROM \(name)", keep: false)
        try old.query("SELECT \(list) FROM \(name)", []) { row in
            try new.run(
                "INSERT INTO \(name)(\(list)) VALUES (\(places))",
                columns.indices.map { row.value($0) })
            return true
        }
    }

    private static func columns(of table: String, _ db: Connection) throws -> [String] {
        try db.column("SELECT name FROM pragma_table_info(?)", [table])
    }

    /// A name in double quotes.
    private static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }

    /// Numbers that were given once are not given again, as far as a store can have given them: after
    /// the largest number that SQLite knows no row can be written. What lies beyond
    /// ``StoreLimits/rowNumber`` is not copied, and the numbers go on from those of the rows.
    /// - Throws: ``StoreError`` where a row itself has such a number.
    private static func copySequences(from old: Connection, to new: Connection) throws {
        // The rows that were copied have set the sequences of their tables.
        let excess: [String] = try new.column(
            "SELECT name FROM sqlite_sequence WHERE seq > ?", [StoreLimits.rowNumber])
        if let excess = excess.first {
            throw StoreError.damaged("A row of \(excess) has a number that no row can have.")
        }
        // SQLite's own table takes values of any type.
        let sequences = try old.all(
            """
            SELECT name, seq FROM sqlite_sequence
            WHERE typeof(name) = 'text' AND typeof(seq) = 'integer'
            """
        ) { (name: $0[0] as String, last: $0[1] as Int64) }
        for (name, last) in sequences {
            guard last <= StoreLimits.rowNumber, try hasTable(name, new) else { continue }
            let used = try new.integer("SELECT seq FROM sqlite_sequence WHERE name = ?", [name])
            try new.run("DELETE FROM sqlite_sequence WHERE name = ?", [name])
            try new.run(
                "INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)",
                [name, max(last, used ?? 0)])
        }
    }

    private static func hasTable(_ name: String, _ db: Connection) throws -> Bool {
        try db.integer(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", [name]
        ) != nil
    }

    /// Refuses names of tables that no client could have given, and ids that are none (see `ItemID`).
    private static func refuseForeignNames(_ db: Connection) throws {
        try db.query("SELECT name, name_key FROM tables", []) { row in
            guard let text = row[0] as String?, let key = row[1] as String?,
                TableName(text)?.key == key
            else { throw StoreError.damaged("A table has a name that no table can have.") }
            return true
        }
        try db.query("SELECT id FROM items", []) { row in
            if (try? ItemID(row[0] as String)) == nil {
                throw StoreError.damaged("An item has an id that no item can have.")
            }
            return true
        }
    }
}
