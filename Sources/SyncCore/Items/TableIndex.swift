public import TablesProtocol

/// An index that the operator has built for lists of one table.
struct TableIndex: Sendable, Hashable {
    /// The id of its row in `table_indexes`, and the number in its name.
    let id: Int64
    let shape: IndexShape

    /// The index's name in SQLite.
    static func name(_ id: Int64) -> String { "items_index_\(id)" }

    /// The WHERE condition of a table's indexes, which a list must contain to use one.
    ///
    /// It means `table_id = N` in a form that SQLite does not treat as equal to it. So SQLite uses such an
    /// index only for a list with this condition, and never sorts a million rows for it. An index contains
    /// the rows of one table only.
    static func scope(_ tableID: Int64) -> String { "+table_id = \(tableID)" }

    /// The statement that creates an index.
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

/// An index as the operator sees it: built, or suggested by lists.
public struct IndexStatus: Sendable, Hashable {
    /// The index's number.
    public var id: Int64
    /// The columns: those compared with one value, then those of the order.
    public var columns: [String]
    /// The number of costly lists that needed it recently.
    public var queries: Int
    /// When it was last needed or used, to the minute.
    public var seenAt: Instant
    /// When it was built; nil if it is only suggested.
    public var builtAt: Instant?
    /// How much of it is built, in percent; nil if it is not being built.
    public var percent: Int?
    /// Why the last build failed, in plain words.
    public var problem: String?
}

/// The index that a person selects.
public enum IndexChoice: Sendable, Hashable {
    /// A suggested index, by its number.
    case known(Int64)
    /// The index that a query needs.
    case query(TableQuery)
}

/// The outcome of a request to build an index.
public enum IndexStart: Sendable, Hashable {
    /// The build has started, under this number.
    case started(Int64)
    /// The index exists already, under this number.
    case present(Int64)
    /// Another index is being built.
    case busy
    case unknownTable
    case unknownIndex
    /// The table has ``StoreLimits/indexesPerTable`` indexes.
    case tooMany
    /// No index can serve the query, or the fixed indexes serve it.
    case notServed
}
