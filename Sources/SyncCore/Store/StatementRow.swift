import GRDB
import GRDBSQLite
import TablesProtocol

/// The row that a statement stands on. It is read by the places of its columns, 0 for the first: names
/// would have to be compared.
@safe
struct StatementRow {
    private let rows: SQLiteStatement

    // Sound as long as the row is used only in the closure to which it is given: SQLite's bytes are
    // valid until the next step, and the statement lives longer than its run.
    init(_ rows: SQLiteStatement) { unsafe self.rows = rows }

    /// A column that is never null.
    subscript<Value: StatementValue>(column: Int) -> Value { Value(self, column) }

    /// A column that may be null.
    subscript<Value: StatementValue>(column: Int) -> Value? {
        isNull(column) ? nil : Value(self, column)
    }

    func isNull(_ column: Int) -> Bool {
        unsafe sqlite3_column_type(rows, CInt(column)) == SQLITE_NULL
    }

    func integer(_ column: Int) -> Int64 { unsafe sqlite3_column_int64(rows, CInt(column)) }

    func real(_ column: Int) -> Double { unsafe sqlite3_column_double(rows, CInt(column)) }

    /// A column's text, copied, with every U+0000 in it.
    func text(_ column: Int) -> String {
        guard let bytes = unsafe sqlite3_column_text(rows, CInt(column)) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(rows, CInt(column)))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// A column's bytes, copied.
    func bytes(_ column: Int) -> [UInt8] {
        guard let bytes = unsafe sqlite3_column_blob(rows, CInt(column)) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(rows, CInt(column)))
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// A column as SQLite keeps it.
    func value(_ column: Int) -> SQLValue {
        switch unsafe sqlite3_column_type(rows, CInt(column)) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(bytes(column))
        default: .null
        }
    }

    private func append(_ column: CInt, to bytes: inout [UInt8]) {
        guard let text = unsafe sqlite3_column_text(rows, column) else { return }
        let count = unsafe Int(sqlite3_column_bytes(rows, column))
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text, count: count))
    }
}

/// A row of the columns id, columns, created_at, stamp, version, deleted.
extension StatementRow: StoredItem {
    var createdAt: Instant? { (self[2] as Int64?).map { Instant(milliseconds: $0) } }
    var updatedAt: Instant { Instant(milliseconds: integer(3)) }
    var deleted: Bool { integer(5) != 0 }

    var hasNumberAsID: Bool { Int64(text(0)) != nil }

    func appendID(to bytes: inout [UInt8]) { append(0, to: &bytes) }
    func appendColumns(to bytes: inout [UInt8]) { append(1, to: &bytes) }
    func appendVersion(to bytes: inout [UInt8]) { append(4, to: &bytes) }

    /// The row as a value of its own.
    func item(_ idKind: IDKind) -> Item {
        Item(
            id: ItemID(stored: text(0), kind: idKind), columns: Columns(stored: text(1)),
            createdAt: createdAt, updatedAt: updatedAt, version: text(4), deleted: deleted)
    }
}
