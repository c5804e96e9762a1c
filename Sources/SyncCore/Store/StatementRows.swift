import GRDB
import GRDBSQLite
import TablesProtocol

/// Reads the rows of a list straight from SQLite: half the cost of a page is GRDB's row objects.
///
/// The statement selects id, columns, created_at, stamp, version, deleted. It is GRDB's, used on the
/// queue of its connection, and reset before its rows are handed on.
enum StatementRows {
    static func items(
        _ statement: Statement, _ arguments: StatementArguments, idKind: IDKind, reserving: Int
    ) throws -> [Item] {
        try statement.setArguments(arguments)
        // Sound: the statement lives as long as this call, and nobody else uses its connection.
        let rows = unsafe statement.sqliteStatement
        defer { unsafe sqlite3_reset(rows) }
        var items: [Item] = []
        items.reserveCapacity(reserving)
        while true {
            let code = unsafe sqlite3_step(rows)
            if code == SQLITE_DONE { return items }
            guard code == SQLITE_ROW else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
            let hasCreated = unsafe sqlite3_column_type(rows, 2) != SQLITE_NULL
            let created = unsafe sqlite3_column_int64(rows, 2)
            let stamp = unsafe sqlite3_column_int64(rows, 3)
            let deleted = unsafe sqlite3_column_int64(rows, 5)
            items.append(
                Item(
                    id: ItemID(stored: unsafe text(rows, 0), kind: idKind),
                    columns: Columns(stored: unsafe text(rows, 1)),
                    createdAt: hasCreated ? Instant(milliseconds: created) : nil,
                    updatedAt: Instant(milliseconds: stamp), version: unsafe text(rows, 4),
                    deleted: deleted != 0))
        }
    }

    /// A column's text, copied: SQLite's own bytes are only valid until the next step.
    private static func text(_ rows: SQLiteStatement, _ column: CInt) -> String {
        guard let bytes = unsafe sqlite3_column_text(rows, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(rows, column))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
