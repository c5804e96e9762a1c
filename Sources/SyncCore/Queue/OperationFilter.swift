import Storage
import TablesProtocol

/// Which operations are meant.
public struct OperationFilter: Sendable, Hashable {
    /// The states; nil for all that are open.
    public var states: Set<OperationState>?
    /// The table, whatever its case.
    public var table: String?
    /// Part of the item's id, title, payload or reason.
    public var text: String?
    /// The reason, whole.
    public var reason: String?
    /// The ids of items of the table, whose open operations are meant; nil for all.
    public var items: [String]?

    /// All open operations, unless narrowed.
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
    /// Whether the counters for each table and state tell how many match.
    var isCounted: Bool { !isSearch && reason == nil && items == nil }

    /// Whether every operation in these states is looked through for a text.
    var isSearch: Bool { text?.isEmpty == false }

    /// The table to read from. Several states at once are read in the table's own order; by the
    /// index a long queue would be fetched row by row and sorted.
    var source: String { states?.count == 1 ? "operations" : "operations NOT INDEXED" }

    /// The text as LIKE takes it, which looks through a payload four times as fast as
    /// `instr(lower(…))`; what a person types is no pattern.
    private var pattern: String {
        var pattern = "%"
        for character in (text ?? "").prefix(StoreLimits.searchCharacters) {
            if "%_\\".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
        return pattern + "%"
    }

    /// The condition on `operations`, with its values.
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
            values += Array(repeating: pattern, count: 4)
        }
        if let reason {
            sql += " AND reason = ?"
            values.append(reason)
        }
        if let items {
            // An item leads to its first open operation, and each to the one that follows it.
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
