/// A value that stands in a place of a statement, or in a column of a row. Null is nil.
package protocol StatementValue {
    /// The value as SQLite takes it.
    var stored: StoredValue { get }

    /// Reads a column. SQLite converts what has another type; null, where none is expected, is zero or
    /// no text.
    init(_ row: StatementRow, _ column: Int)
}

/// What stands in a statement's places, from the first one on.
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
