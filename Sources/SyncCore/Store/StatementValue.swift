import TablesProtocol

/// A value that stands in a place of a statement, or in a column of a row. Null is nil.
protocol StatementValue {
    /// The value as SQLite takes it.
    var stored: SQLValue { get }

    /// Reads a column. SQLite converts what has another type; null, where none is expected, is zero or
    /// no text.
    init(_ row: StatementRow, _ column: Int)
}

/// What stands in a statement's places, from the first one on.
typealias StatementValues = [(any StatementValue)?]

extension String: StatementValue {
    var stored: SQLValue { .text(self) }
    init(_ row: StatementRow, _ column: Int) { self = row.text(column) }
}

extension Int64: StatementValue {
    var stored: SQLValue { .integer(self) }
    init(_ row: StatementRow, _ column: Int) { self = row.integer(column) }
}

extension Int: StatementValue {
    var stored: SQLValue { .integer(Int64(self)) }
    init(_ row: StatementRow, _ column: Int) { self = Int(row.integer(column)) }
}

extension Bool: StatementValue {
    var stored: SQLValue { .integer(self ? 1 : 0) }
    init(_ row: StatementRow, _ column: Int) { self = row.integer(column) != 0 }
}

extension Double: StatementValue {
    var stored: SQLValue { .real(self) }
    init(_ row: StatementRow, _ column: Int) { self = row.real(column) }
}

extension SQLValue: StatementValue {
    var stored: SQLValue { self }
    init(_ row: StatementRow, _ column: Int) { self = row.value(column) }
}
