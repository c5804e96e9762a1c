import GRDB
import TablesProtocol

extension OperationFilter {
    /// Whether the counters for each table and state tell how many match.
    var isCounted: Bool { (text?.isEmpty ?? true) && reason == nil && items == nil }

    /// The condition on `operations`, with its arguments.
    var condition: (sql: String, arguments: StatementArguments) {
        let states = (states ?? OperationState.open).map(\.rawValue).sorted()
        var sql = "state IN (\(states.map { "'\($0)'" }.joined(separator: ",")))"
        var arguments: StatementArguments = []
        if let table {
            sql += " AND table_id = (SELECT id FROM tables WHERE name_key = ?)"
            arguments += [table.lowercased()]
        }
        if let text, !text.isEmpty {
            // instr, not LIKE: what a person types is no pattern.
            sql += """
                 AND (instr(lower(item_id), ?) OR instr(lower(coalesce(title, '')), ?)
                  OR instr(lower(coalesce(reason, '')), ?)
                  OR instr(lower(coalesce(payload, '')), ?))
                """
            let wanted = text.lowercased()
            arguments += [wanted, wanted, wanted, wanted]
        }
        if let reason {
            sql += " AND reason = ?"
            arguments += [reason]
        }
        if let items {
            sql += " AND item_id IN (\(items.map { _ in "?" }.joined(separator: ",")))"
            arguments += StatementArguments(items)
        }
        return (sql, arguments)
    }
}
