import GRDB
import TablesProtocol

/// An open transaction on the store: what every step of the queue, of push and of pull is written
/// against. The caller owns it; nothing in it waits for the network.
struct Transaction {
    let db: Database
    /// Whose store it is.
    let identity: String
    /// The time of the transaction: the same for everything in it.
    let now: Instant
    let ids: any IDSource
    let effects: TransactionEffects

    /// Runs one statement, prepared once for each connection.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The first row of an answer.
    func first(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }

    /// All rows of an answer.
    func all(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
    }

    /// The first value of an answer; nil when there is none or it is null.
    func integer(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try Int64.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }
}
