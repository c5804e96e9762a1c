import Storage
import TablesProtocol

/// What a store's file holds, as it was found without changing it.
public struct StoreContents: Sendable, Hashable {
    /// The version of its tables; an older one is migrated when the store is opened.
    public var version: Int
    /// The backend whose work it holds; nil when none was ever asked.
    public var backend: String?
    /// Whether that backend ever gave a list. Another one can replace it only then with a rebind.
    public var isBackendProven: Bool
    public var tables: [String]
    /// Items that are not deleted, of all tables.
    public var items: Int
    /// The account of every accepted write.
    public var ledger: Ledger
    /// Bytes of the file that hold something.
    public var usedBytes: Int
    /// A sentence for each table with rows that are set aside, which names the first of them.
    public var setAside: [String]
    /// See ``OperationLists/triedOften()``.
    public var triedOften: [String]
    /// What is wrong, in sentences; empty when all is well.
    public var faults: [String]
}

extension StoreContents {
    /// Whether less than one part in ``StoreLimits/budgetsFreeForWrites`` of a store's budget is free.
    public static func isNearlyFull(usedBytes: Int, budgetBytes: Int) -> Bool {
        let room = DiskBudget.fileBytes(of: budgetBytes) - usedBytes
        return room < budgetBytes / StoreLimits.budgetsFreeForWrites
    }
}

/// Looks into a store's file for what is wrong.
struct StoreCheck: InTransaction {
    let transaction: Transaction

    /// What is wrong with the file, in sentences.
    func faults() throws -> [String] {
        var faults: [String] = try transaction.column("PRAGMA integrity_check")
        faults.removeAll { $0 == "ok" }
        if try transaction.first("PRAGMA foreign_key_check", [], { _ in true }) != nil {
            faults.append("Rows refer to rows that are not there.")
        }
        if try !ledger.read().balances {
            faults.append("The ledger does not balance: a write is not accounted for.")
        }
        return faults
    }

    private func usedBytes() throws -> Int {
        let pages = try ["page_count", "freelist_count", "page_size"].map {
            Int(try transaction.integer("PRAGMA \($0)") ?? 0)
        }
        return (pages[0] - pages[1]) * pages[2]
    }

    private func setAside() throws -> [String] {
        try transaction.all("SELECT id, name FROM tables ORDER BY name_key") {
            (id: $0[0] as Int64, name: $0[1] as String)
        }.compactMap { table in
            try setAsideRows.sentence(on: table.id).map { "\(table.name): \($0)" }
        }
    }

    func contents(version: Int) throws -> StoreContents {
        StoreContents(
            version: version, backend: try binding.boundAddress(),
            isBackendProven: try binding.isProven(),
            tables: try transaction.column("SELECT name FROM tables ORDER BY name_key"),
            items: Int(
                try transaction.integer("SELECT coalesce(sum(live_items), 0) FROM table_counters")
                    ?? 0),
            ledger: try ledger.read(), usedBytes: try usedBytes(),
            setAside: try setAside(),
            triedOften: try OperationLists(transaction: transaction).triedOften(),
            faults: try faults())
    }
}

/// Whether a store that is open can be used, and what it takes.
public struct StoreHealth: Sendable {
    let reading: StoreReading
    let writer: Writer<StoreWork>

    /// Makes a durable write and takes it back with another: SQLite writes no page whose content stays
    /// the same, and asking whether all is well leaves nothing behind.
    /// - Throws: ``StoreError`` when the store can take none: the disk is full, the file read-only.
    public func proveWritable() async throws(StoreError) {
        for statement in [
            "INSERT OR REPLACE INTO meta VALUES ('proof', 1)",
            "DELETE FROM meta WHERE key = 'proof'",
        ] {
            try Store.value(await writer.write { try $0.run(statement) })
        }
        try await proveRoom()
    }

    /// Throws when clients' writes are refused since the budget is used up.
    private func proveRoom() async throws(StoreError) {
        guard writer.budget != nil else { return }
        // It is rolled back, so that nothing is written.
        let result = await writer.write(inBudget: true) { transaction throws -> Void in
            try transaction.run(
                "INSERT OR REPLACE INTO meta VALUES ('proof', zeroblob(?))",
                [StoreLimits.proofBytes])
            throw Store.RolledBack()
        }
        if writer.refusesEntries { throw StoreError(StorageError.overBudget) }
        guard case .failure(.overBudget) = result else { return }
        let canForget = try await reading.read { try Purging(transaction: $0).canForget() }
        if !canForget { throw StoreError(StorageError.overBudget) }
    }

    /// See ``OperationLists/triedOften()``.
    func triedOften() async throws(StoreError) -> [String] {
        try await reading.read { try OperationLists(transaction: $0).triedOften() }
    }

    /// A warning that the budget refuses writes; nil while it does not.
    var roomWarning: String? {
        writer.refusesEntries
            ? "The disk budget is used up: writes are refused with 507. Sync or discard what waits, or "
                + "raise disk-budget."
            : nil
    }

    /// The part of the disk budget for the file that is in use, from 0 to 1; nil without a budget.
    public func usedShareOfBudget() async throws(StoreError) -> Double? {
        guard let budget = writer.budget else { return nil }
        return try await reading.read { try budget.usedShare($0.db) }
    }

    /// Gives the room of a long write-ahead log back to the disk.
    func shrinkLog() async { await writer.shrinkLog() }

    /// SQLite's check of the file, the references between rows, and the ledger.
    /// - Returns: what is wrong, in sentences; empty when all is well.
    public func check() async throws(StoreError) -> [String] {
        try await reading.read { try StoreCheck(transaction: $0).faults() }
    }
}

extension Store {
    /// The version of the SQLite library in use, such as `3.40.1`.
    public static let sqliteVersion = SQLiteLibrary.version

    /// Whether that SQLite may damage a file where one connection copies the log while another begins it
    /// anew (before 3.51.3; sqlite.org/wal.html). Here one connection does both.
    public static var hasLogResetFault: Bool { SQLiteLibrary.hasLogResetFault }
}

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
