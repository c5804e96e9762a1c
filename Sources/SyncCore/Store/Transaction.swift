import Storage
import TablesProtocol

/// An open transaction on the store: what every step of the queue, of push and of pull is written
/// against. The caller owns it; nothing in it waits for the network.
///
/// A statement stays prepared on its connection, by its text, unless `keep` is false: for a text that
/// differs from call to call.
struct Transaction {
    let db: Connection
    /// Whose store it is.
    let identity: String
    /// The time of the transaction: the same for everything in it, but for what joined it later.
    var now: Instant
    let ids: any IDSource
    /// The tables as they are committed, where nobody else commits; nil for a transaction that must
    /// look itself.
    var tablesInMemory: TableCatalog?
    let effects: TransactionEffects
    #if DEBUG
        var planted: ProductBug?
    #endif
    /// What is counted in memory until ``flush()``.
    let setAside = SetAside()

    /// Writes what was kept in memory: the last that a transaction does before its commit.
    func flush() throws {
        for (table, stamp) in setAside.lastStamps {
            try run(
                "UPDATE table_counters SET last_stamp = ? WHERE table_id = ?", [stamp, table])
        }
        if let changes = setAside.changes {
            try run("UPDATE meta SET value = ? WHERE key = 'changes'", [changes])
        }
        try writeEvents()
    }

    /// Runs one statement.
    func run(_ sql: String, _ values: StatementValues = [], keep: Bool = true) throws {
        try db.run(sql, values, keep: keep)
    }

    /// What `read` makes of the first row of an answer; nil where there is none.
    func first<T>(
        _ sql: String, _ values: StatementValues = [], _ read: (StatementRow) throws -> T?
    ) throws -> T? {
        try db.first(sql, values, read)
    }

    /// What `read` makes of the rows of an answer, without those of which it makes nothing.
    func all<T>(
        _ sql: String, _ values: StatementValues = [], keep: Bool = true,
        _ read: (StatementRow) throws -> T?
    ) throws -> [T] {
        try db.all(sql, values, keep: keep, read)
    }

    /// The first column of every row of an answer, where it is not null.
    func column<Value: StatementValue>(
        _ sql: String, _ values: StatementValues = [], keep: Bool = true
    ) throws -> [Value] {
        try db.column(sql, values, keep: keep)
    }

    /// The first value of an answer; nil when there is none or it is null.
    func integer(_ sql: String, _ values: StatementValues = []) throws -> Int64? {
        try db.integer(sql, values)
    }
}
