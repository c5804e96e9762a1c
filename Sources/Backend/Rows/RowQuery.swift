package import TablesProtocol

/// A query for rows of a table, in an order.
package struct RowQuery: Sendable {
    /// The order of rows that are equal in all terms of `orderBy`.
    package enum LastOrder: Sendable {
        case id
        /// The order of the inserts, where there is no term at all.
        case insertion
    }

    /// How long the database may take for a list.
    package enum Time: Sendable {
        /// As long as a list is tried; as long as any list where a storage has no lanes.
        case brief
        /// As long as any list may take.
        case whole
    }

    /// The table. One that is not there has no rows.
    package var table: TableName
    /// The filter; nil selects every row.
    package var filter: RowFilter?
    /// The terms of their order.
    package var orderBy: [Ordering] = []
    /// The order of rows that the terms leave equal.
    package var lastOrder = LastOrder.id
    /// The number of matching rows that are left out first.
    package var skip = 0
    /// The most rows of the answer, after those that are left out.
    package var limit = Int.max
    /// Whether deleted rows are included.
    package var includesDeleted = false
    /// Whether the answer has the number of all matching rows.
    package var counts = false
    /// The result of a comparison with null.
    package var nulls = NullComparison.unknown
    /// True compares `updatedAt` to 100 ns, false to milliseconds.
    package var isExact = false
    /// How long it may take.
    package var time = Time.whole
}

/// The filter of a query.
package struct RowFilter: Sendable {
    /// The condition that selects the rows a client may see, such as those of the user; nil for all
    /// rows. A storage evaluates the client's condition only for these rows, because the time that a
    /// condition takes tells what is in a row (docs/decisions/site.md).
    package var scope: Expression?
    /// The client's condition; nil where all rows of the scope are meant.
    package var condition: Expression?

    /// The terms of the condition that compare `updatedAt` with a constant. Each of them holds where the
    /// condition does. An index serves them beside the scope, and they look into no other column.
    package var times: [Expression] {
        switch condition {
        case .logical(.and, let operands): operands.filter(\.comparesUpdatedAt)
        case .some(let term): term.comparesUpdatedAt ? [term] : []
        case .none: []
        }
    }
}

extension Expression {
    fileprivate var comparesUpdatedAt: Bool {
        switch self {
        case .binary(let operation, .column(.system(.updatedAt)), .literal(.instant)),
            .binary(let operation, .literal(.instant), .column(.system(.updatedAt))):
            switch operation {
            case .equal, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: true
            case .notEqual, .add, .sub, .mul, .div, .divBy, .mod: false
            }
        case .literal, .column, .unary, .binary, .logical, .call, .inList: false
        }
    }
}

/// The rows of a query.
package struct RowList: Sendable, Hashable {
    /// The rows after those left out, at most as many as the limit.
    package var rows: [Row] = []
    /// The number of matching rows regardless of skip and limit; nil when it was not asked for.
    package var count: Int?
    /// The latest `updatedAt` of the tombstones that the table no longer has; nil where it has all.
    package var deletionsAfter: Instant?

    package init(rows: [Row] = [], count: Int? = nil) { (self.rows, self.count) = (rows, count) }
}

extension SQLFragment {
    /// Both conditions.
    package func and(_ other: SQLFragment) -> SQLFragment {
        SQLFragment("\(text) AND (\(other.text))", arguments + other.arguments)
    }
}
