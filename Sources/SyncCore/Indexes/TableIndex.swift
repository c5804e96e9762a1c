import TablesProtocol

/// An index that the operator had built for the lists of one table.
struct TableIndex: Sendable, Hashable {
    /// Its row in `table_indexes`, and the number in its name.
    let id: Int64
    let shape: IndexShape

    /// The name in SQLite.
    static func name(_ id: Int64) -> String { "items_index_\(id)" }

    /// The condition that a list states to use the indexes of a table, and that they are made with.
    ///
    /// It says the same as `table_id = N`, in words that SQLite never takes for it. So SQLite uses such
    /// an index only for a list that says so, and never sorts a million rows to do so. An index holds
    /// the rows of one table only.
    static func scope(_ tableID: Int64) -> String { "+table_id = \(tableID)" }

    /// The statement that makes an index.
    static func making(_ id: Int64, _ shape: IndexShape, of table: TableRecord) -> String {
        let keys = SQLCompiler(ItemSQLSchema(hasIntegerIDs: table.idKind == .integer))
            .indexKeys(shape)
        return "CREATE INDEX \(name(id)) ON items(\(keys)) WHERE \(scope(table.id))"
    }

    /// Reads `tables.indexes`.
    static func list(_ text: String) -> [TableIndex] {
        JSONList.lists(text).compactMap { parts in
            guard let id = parts.first.flatMap({ Int64($0) }),
                let shape = IndexShape(terms: Array(parts.dropFirst()))
            else { return nil }
            return TableIndex(id: id, shape: shape)
        }
    }
}
