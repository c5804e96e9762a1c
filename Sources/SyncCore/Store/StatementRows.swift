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
            items.append(unsafe item(rows, idKind))
        }
    }

    /// The one row of a table and an id, with the text of its seventh column; nil for none.
    static func item(
        _ statement: Statement, _ table: Int64, _ id: String, idKind: IDKind
    ) throws -> (Item, seventh: String?)? {
        // Sound: as above; SQLite copies the bound text before this call ends.
        let rows = unsafe statement.sqliteStatement
        defer { unsafe sqlite3_reset(rows) }
        var id = id
        let bound = id.withUTF8 { bytes in
            unsafe sqlite3_bind_text(
                rows, 2, UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
                CInt(bytes.count), unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
        guard bound == SQLITE_OK, unsafe sqlite3_bind_int64(rows, 1, table) == SQLITE_OK else {
            throw DatabaseError(resultCode: .SQLITE_ERROR)
        }
        switch unsafe sqlite3_step(rows) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW:
            let hasSeventh = unsafe sqlite3_column_type(rows, 6) != SQLITE_NULL
            return unsafe (item(rows, idKind), hasSeventh ? text(rows, 6) : nil)
        case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    private static func item(_ rows: SQLiteStatement, _ idKind: IDKind) -> Item {
        let hasCreated = unsafe sqlite3_column_type(rows, 2) != SQLITE_NULL
        let created = unsafe sqlite3_column_int64(rows, 2)
        return Item(
            id: ItemID(stored: unsafe text(rows, 0), kind: idKind),
            columns: Columns(stored: unsafe text(rows, 1)),
            createdAt: hasCreated ? Instant(milliseconds: created) : nil,
            updatedAt: Instant(milliseconds: unsafe sqlite3_column_int64(rows, 3)),
            version: unsafe text(rows, 4), deleted: unsafe sqlite3_column_int64(rows, 5) != 0)
    }

    /// A column's text, copied: SQLite's own bytes are only valid until the next step.
    private static func text(_ rows: SQLiteStatement, _ column: CInt) -> String {
        guard let bytes = unsafe sqlite3_column_text(rows, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(rows, column))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
