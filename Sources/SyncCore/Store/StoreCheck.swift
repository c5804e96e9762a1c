import Storage
import TablesProtocol

/// What a store's file holds, as it was found without changing it.
public struct StoreContents: Sendable, Hashable {
    /// The version of its tables; an older one is migrated when the store is opened.
    public var version: Int
    /// The backend whose work it holds; nil when none was ever asked.
    public var backend: String?
    /// The names of the tables.
    public var tables: [String]
    /// Items that are not deleted, of all tables.
    public var items: Int
    /// The account of every accepted write.
    public var ledger: Ledger
    /// What is wrong, in sentences; empty when all is well.
    public var faults: [String]
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

    func contents(version: Int) throws -> StoreContents {
        StoreContents(
            version: version, backend: try binding.boundAddress(),
            tables: try transaction.column("SELECT name FROM tables ORDER BY name_key"),
            items: Int(
                try transaction.integer("SELECT coalesce(sum(live_items), 0) FROM table_counters")
                    ?? 0),
            ledger: try ledger.read(), faults: try faults())
    }
}
