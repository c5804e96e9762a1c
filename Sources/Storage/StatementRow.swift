import Foundation
import GRDB

/// The row that a statement stands on. It holds only until the closure returns that it is given to.
///
/// Columns are read by their places, 0 for the first, or by their names. A text is read by its bytes:
/// GRDB's own reading of a text ends at U+0000.
package struct StatementRow {
    private let row: Row
    private let statement: Statement

    init(_ row: Row, of statement: Statement) {
        self.row = row
        self.statement = statement
    }

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

    package func isNull(_ column: Int) -> Bool { row.hasNull(atIndex: column) }

    package func integer(_ column: Int) -> Int64 { (row[column] as Int64?) ?? 0 }

    package func real(_ column: Int) -> Double { (row[column] as Double?) ?? 0 }

    /// A column's text, copied.
    package func text(_ column: Int) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// A column's bytes, copied.
    package func bytes(_ column: Int) -> [UInt8] { withBytes(column) { Array($0) } }

    /// Appends a column's text.
    package func append(_ column: Int, to bytes: inout [UInt8]) {
        withBytes(column) { bytes.append(contentsOf: $0) }
    }

    /// A column as SQLite stores it.
    package func value(_ column: Int) -> StoredValue {
        switch (row[column] as DatabaseValue).storage {
        case .null: .null
        case .int64(let number): .integer(number)
        case .double(let number): .real(number)
        case .string: .text(text(column))
        case .blob: .blob(bytes(column))
        }
    }

    private func place(_ name: String) -> Int {
        guard let place = statement.index(ofColumn: name) else {
            preconditionFailure("The statement has no column \(name).")
        }
        return place
    }

    /// Lends the bytes of a column, none for null. They are not copied.
    private func withBytes<T>(_ column: Int, _ body: (Data) -> T) -> T {
        // GRDB fails here only where the body does.
        let result = try? row.withUnsafeData(atIndex: column) { body($0 ?? Data()) }
        return result ?? body(Data())
    }
}
