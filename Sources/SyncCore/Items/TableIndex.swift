public import TablesProtocol

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

/// An index of a table as the operator sees it: one that is there, or one that lists asked for.
public struct IndexStatus: Sendable, Hashable {
    /// Its number.
    public var id: Int64
    /// The columns: those held to one value, then the order.
    public var columns: [String]
    /// Costly lists that asked for it, of late.
    public var queries: Int
    /// When it was last asked for or used, to the minute.
    public var seenAt: Instant
    /// When it was made; nil while it is only asked for.
    public var builtAt: Instant?
    /// How much of it is made, in percent; nil while it is not being made.
    public var percent: Int?
    /// Why it could not be made when a person last wanted it, in plain words.
    public var problem: String?
}

/// Which index a person wants.
public enum IndexChoice: Sendable, Hashable {
    /// One that lists asked for, by its number.
    case known(Int64)
    /// The one that a query needs.
    case query(TableQuery)
}

/// What became of the wish to make an index.
public enum IndexStart: Sendable, Hashable {
    /// It is being made, under this number.
    case started(Int64)
    /// It is there already, under this number.
    case present(Int64)
    /// Another one is being made.
    case busy
    case unknownTable
    case unknownIndex
    /// The table has as many as it may have.
    case tooMany
    /// The query is one that no index can serve, or that the standing ones serve.
    case notServed
}
