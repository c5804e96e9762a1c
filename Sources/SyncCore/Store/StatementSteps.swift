import GRDB
import GRDBSQLite

/// How much work SQLite's machine did for a statement.
enum StatementSteps {
    /// The steps since this was last asked of the statement. It costs a look into a counter.
    static func take(_ statement: Statement) -> Int {
        // Sound: the statement lives as long as this call, and nobody else uses its connection.
        unsafe Int(
            sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 1))
    }
}
