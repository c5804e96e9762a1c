import Storage
import TablesProtocol

/// The indexes of a table whose items each belong to one user: by the user and the id, and by the user and
/// the last change.
enum OwnerIndexes {
    /// The term that a query needs to use the indexes of a table.
    ///
    /// It means `table_key = N` in a form that SQLite does not treat as equal to it, so that no other query
    /// uses them.
    static func scope(_ key: Int64) -> SQLFragment { SQLFragment("+table_key = \(key)") }

    /// Makes the indexes what the table needs.
    /// - Parameter column: the column of the owner, as the table spells it; nil for no indexes.
    static func keep(_ connection: Connection, _ key: Int64, column: String?) throws {
        let terms = column.map { ["=\($0)"] }
        try keep(connection, "items_of_users_\(key)", key, terms)
        try keep(connection, "changes_of_users_\(key)", key, terms.map { $0 + ["+@updatedAt"] })
    }

    private static func keep(
        _ connection: Connection, _ name: String, _ key: Int64, _ terms: [String]?
    ) throws {
        let shape = terms.flatMap { IndexShape(terms: $0) }
        let wanted = shape.map { shape -> String in
            let keys = SQLCompiler(ItemSQLSchema()).indexKeys(shape)
            return "CREATE INDEX \(name) ON items(\(keys)) WHERE \(scope(key).text)"
        }
        let found = try connection.first(
            "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?", [name]
        ) { $0.text(0) }
        if found == wanted { return }
        if found != nil { try connection.run("DROP INDEX \(name)", keep: false) }
        if let wanted { try connection.run(wanted, keep: false) }
    }
}
