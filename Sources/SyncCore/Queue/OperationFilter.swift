import Storage
import TablesProtocol

/// Selects operations.
public struct OperationFilter: Sendable, Hashable {
    /// The states; nil for every open state.
    public var states: Set<OperationState>?
    /// The table's name, in any case.
    public var table: String?
    /// A part of the item's id, title, payload or reason.
    public var text: String?
    /// The whole reason.
    public var reason: String?
    /// The ids of items of the table; nil for every item. Selects their open operations.
    public var items: [String]?

    /// Selects every open operation, unless narrowed.
    public init(
        states: Set<OperationState>? = nil, table: String? = nil, text: String? = nil,
        reason: String? = nil, items: [String]? = nil
    ) {
        self.states = states
        self.table = table
        self.text = text
        self.reason = reason
        self.items = items
    }
}

extension OperationFilter {
    /// Whether the counters for each table and state give the number of matches.
    var isCounted: Bool { !isSearch && reason == nil && items == nil }

    /// Whether a text is searched for in every operation of these states.
    var isSearch: Bool { text?.isEmpty == false }

    /// What to read from. Several states are read in the order of the table: with the index, a long queue
    /// would be fetched row by row and sorted.
    var source: String { states?.count == 1 ? "operations" : "operations NOT INDEXED" }

    /// The condition on `operations`, and its values.
    var condition: (sql: String, values: StatementValues) {
        let states = (states ?? OperationState.open).map(\.rawValue).sorted()
        var sql = "state IN (\(states.map { "'\($0)'" }.joined(separator: ",")))"
        var values: StatementValues = []
        if let table {
            sql += " AND table_id = (SELECT id FROM tables WHERE name_key = ?)"
            values.append(table.lowercased())
        }
        if isSearch {
            sql += """
                 AND (item_id LIKE ? ESCAPE '\\' OR title LIKE ? ESCAPE '\\'
                  OR reason LIKE ? ESCAPE '\\' OR payload LIKE ? ESCAPE '\\')
                """
            values += Array(repeating: LikePattern.containing(text ?? ""), count: 4)
        }
        if let reason {
            sql += " AND reason = ?"
            values.append(reason)
        }
        if let items {
            // An item refers to its first open operation, and each operation to its successor.
            sql += """
                 AND seq IN (
                  WITH RECURSIVE chain(seq) AS (
                    SELECT pending FROM items
                    WHERE table_id IN (SELECT id FROM tables WHERE name_key = ?)
                      AND id IN (\(items.map { _ in "?" }.joined(separator: ","))) AND pending IS NOT NULL
                    UNION
                    SELECT next.seq FROM operations AS next JOIN chain ON next.successor_of = chain.seq
                  )
                  SELECT seq FROM chain)
                """
            values.append(table?.lowercased())
            values += items
        }
        return (sql, values)
    }
}
