import GRDB
import GRDBSQLite

/// The row that a statement stands on. It holds only until the closure returns that it is given to.
///
/// Columns are read in place, by their places, 0 for the first, or by their names.
package struct StatementRow {
    // Sound, for every `unsafe` below: the statement stands on a row as long as the closure runs, on the
    // thread that has the connection (`Statement.swift`). What SQLite lends is copied before the next call.
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// A column that is never null.
    package subscript<Value: StatementValue>(column: Int) -> Value { Value(self, column) }

    /// A column that may be null.
    package subscript<Value: StatementValue>(column: Int) -> Value? {
        isNull(column) ? nil : Value(self, column)
    }

    /// A column that is never null. A statement that has no such column is a programming error.
    package subscript<Value: StatementValue>(name: String) -> Value { self[place(name)] }

    /// A column that may be null. A statement that has no such column is a programming error.
    package subscript<Value: StatementValue>(name: String) -> Value? { self[place(name)] }

    /// Whether a column is null; columns count from 0.
    package func isNull(_ column: Int) -> Bool {
        unsafe sqlite3_column_type(statement.sqliteStatement, CInt(column)) == SQLITE_NULL
    }

    /// A column's whole number; 0 for null.
    package func integer(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(statement.sqliteStatement, CInt(column))
    }

    /// A column's number; 0 for null.
    package func real(_ column: Int) -> Double {
        unsafe sqlite3_column_double(statement.sqliteStatement, CInt(column))
    }

    /// A column's text, copied.
    package func text(_ column: Int) -> String {
        let (sqlite, place) = unsafe (statement.sqliteStatement, CInt(column))
        // In this order: the first call may convert the column, and the length is of what it made.
        let start = unsafe sqlite3_column_text(sqlite, place)
        let count = unsafe Int(sqlite3_column_bytes(sqlite, place))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A column's bytes, copied.
    package func bytes(_ column: Int) -> [UInt8] {
        let (sqlite, place) = unsafe (statement.sqliteStatement, CInt(column))
        let start = unsafe sqlite3_column_blob(sqlite, place)
        let count = unsafe Int(sqlite3_column_bytes(sqlite, place))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A column as SQLite stores it.
    package func value(_ column: Int) -> StoredValue {
        switch unsafe sqlite3_column_type(statement.sqliteStatement, CInt(column)) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: .text(text(column))
        default: .blob(bytes(column))
        }
    }

    private func place(_ name: String) -> Int {
        guard let place = statement.index(ofColumn: name) else {
            preconditionFailure("The statement has no column \(name).")
        }
        return place
    }
}

/// A value that stands in a place of a statement, or in a column of a row. Null is nil.
package protocol StatementValue {
    /// The value as SQLite takes it.
    var stored: StoredValue { get }

    /// Reads a column. SQLite converts what has another type; null, where none is expected, is zero or
    /// no text.
    init(_ row: StatementRow, _ column: Int)
}

/// The values of a statement's parameters, from the first one on.
package typealias StatementValues = [(any StatementValue)?]

extension String: StatementValue {
    package var stored: StoredValue { .text(self) }
    package init(_ row: StatementRow, _ column: Int) { self = row.text(column) }
}

extension Int64: StatementValue {
    package var stored: StoredValue { .integer(self) }
    package init(_ row: StatementRow, _ column: Int) { self = row.integer(column) }
}

extension Int: StatementValue {
    package var stored: StoredValue { .integer(Int64(self)) }
    package init(_ row: StatementRow, _ column: Int) { self = Int(row.integer(column)) }
}

extension Bool: StatementValue {
    package var stored: StoredValue { .integer(self ? 1 : 0) }
    package init(_ row: StatementRow, _ column: Int) { self = row.integer(column) != 0 }
}

extension Double: StatementValue {
    package var stored: StoredValue { .real(self) }
    package init(_ row: StatementRow, _ column: Int) { self = row.real(column) }
}

extension StoredValue: StatementValue {
    package var stored: StoredValue { self }
    package init(_ row: StatementRow, _ column: Int) { self = row.value(column) }
}

/// A value as SQLite stores it.
package enum StoredValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}
