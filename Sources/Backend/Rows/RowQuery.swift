import TablesProtocol

/// Which rows of a table, and in which order.
package struct RowQuery: Sendable {
    /// In which order rows are that no term tells apart.
    enum LastOrder: Sendable {
        case id
        /// The order of the inserts, where there is no term at all.
        case insertion
    }

    /// The table. One that is not there has no rows.
    var table: TableName
    /// What holds for them; nil for all.
    var filter: RowFilter?
    /// The terms of their order.
    var orderBy: [Ordering] = []
    /// The order of rows that the terms leave equal.
    var lastOrder = LastOrder.id
    /// How many are left out.
    var skip = 0
    /// How many there are at most after those.
    var limit = Int.max
    /// Whether tombstones are among them.
    var includesDeleted = false
    /// Whether all that match are counted.
    var counts = false
    /// What comparisons with null are.
    var nulls = NullComparison.unknown
    /// Whether `updatedAt` is compared to 100 ns, and else to milliseconds.
    var isExact = false
    /// The instant that `now()` is.
    var now: Instant
}

/// What holds for the rows of a query.
struct RowFilter: Sendable {
    /// What a row has to be before the client's condition may look at it, such as the user's own. The time
    /// that a condition takes tells what is in a row, so a storage evaluates it for no other row
    /// (decision 0166). Nil for all rows.
    var scope: Expression?
    /// The client's condition; nil where all rows of the scope are meant.
    var condition: Expression?

    /// The terms of the condition that compare `updatedAt` with a constant. Each of them holds where the
    /// condition does. An index serves them beside the scope, and they look into no other column.
    var times: [Expression] {
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
            case .notEqual, .add, .sub, .mul, .div, .divBy, .mod, .has: false
            }
        case .literal, .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified, .variable:
            false
        }
    }
}

/// The rows of a query.
package struct RowList: Sendable, Hashable {
    /// The rows after those left out, at most as many as the limit.
    var rows: [Row] = []
    /// How many match regardless of skip and limit; nil when not asked for.
    var count: Int?
}
