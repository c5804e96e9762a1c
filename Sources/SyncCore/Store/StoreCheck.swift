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
    /// The names of the tables.
    public var tables: [String]
    /// Items that are not deleted, of all tables.
    public var items: Int
    /// The account of every accepted write.
    public var ledger: Ledger
    /// Bytes of the file that hold something.
    public var usedBytes: Int
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
struct StoreCheck {
    let transaction: Transaction
    private var binding: BackendBinding { transaction.binding }
    private var ledger: LedgerTable { transaction.ledger }

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

    func contents(version: Int) throws -> StoreContents {
        StoreContents(
            version: version, backend: try binding.boundAddress(),
            isBackendProven: try binding.isProven(),
            tables: try transaction.column("SELECT name FROM tables ORDER BY name_key"),
            items: Int(
                try transaction.integer("SELECT coalesce(sum(live_items), 0) FROM table_counters")
                    ?? 0),
            ledger: try ledger.read(), usedBytes: try usedBytes(), faults: try faults())
    }
}

extension Store {
    /// Makes a durable write and takes it back with another: SQLite writes no page whose content stays
    /// the same, and asking whether all is well leaves nothing behind.
    /// - Throws: ``StoreError`` when the store can take none: the disk is full, the file read-only.
    public func proveWritable() async throws(StoreError) {
        try await write { try $0.run("INSERT OR REPLACE INTO meta VALUES ('proof', 1)") }
        try await write { try $0.run("DELETE FROM meta WHERE key = 'proof'") }
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
            throw RolledBack()
        }
        if writer.refusesEntries { throw StoreError(StorageError.overBudget) }
        guard case .failure(.overBudget) = result else { return }
        let canForget = try await read { try Purging(transaction: $0).canForget() }
        if !canForget { throw StoreError(StorageError.overBudget) }
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
        return try await read { try budget.usedShare($0.db) }
    }

    /// Gives the room of a long write-ahead log back to the disk.
    func shrinkLog() async { await writer.shrinkLog() }

    /// The version of the SQLite library in use, such as `3.40.1`.
    public static let sqliteVersion = SQLiteLibrary.version

    /// Whether that SQLite may damage a file where one connection copies the log while another begins it
    /// anew (before 3.51.3; sqlite.org/wal.html). Here one connection does both.
    public static var hasLogResetFault: Bool { SQLiteLibrary.hasLogResetFault }

    /// SQLite's check of the file, the references between rows, and the ledger.
    /// - Returns: what is wrong, in sentences; empty when all is well.
    public func check() async throws(StoreError) -> [String] {
        try await read { try StoreCheck(transaction: $0).faults() }
    }

    /// Looks into a store's file without changing it, also while the store is in use.
    /// - Throws: ``StoreError`` for a file that is no store, or one of a newer version.
    @available(*, noasync)
    public static func verify(at path: String) throws(StoreError) -> StoreContents {
        do {
            let file = try ConnectionQueue.storeReader(path)
            let contents = try contents(of: file, at: path)
            try file.close()
            return contents
        } catch {
            throw StoreError(opening: path, error)
        }
    }

    /// What a store holds that is open already.
    @available(*, noasync)
    static func contents(of store: ConnectionQueue, at path: String) throws -> StoreContents {
        try store.transaction(.deferred) { db in
            guard let version = try Migrations.present.version(of: db) else {
                throw StoreError.damaged("The file \(path) is no store of Understudy.")
            }
            try StoreRebuild.refuseFalseTables(db, version: version)
            return try StoreCheck(transaction: Transaction(lookingInto: db)).contents(
                version: version)
        }
    }
}
