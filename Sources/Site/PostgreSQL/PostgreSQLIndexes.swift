package import Backend
import PostgreSQL
package import TablesProtocol

/// Why an index cannot be built or dropped, as a sentence that says what to do.
package struct IndexProblem: Error, CustomStringConvertible {
    package let description: String
}

// Indexes that the operator has built for lists. Nodes go on reading and writing meanwhile.
extension PostgreSQLRowStorage {
    /// The indexes of all tables, by the tables' names.
    package func indexes() throws -> [(table: TableName, index: TableIndex)] {
        try mappingTransientErrors {
            try pool.retrying { try PostgreSQLIndexes($0, schema: schema).all() }
        }
    }

    /// Builds the index that a list needs. It takes as long as it needs; an earlier call that was ended leaves
    /// nothing that a later one does not take away.
    /// - Returns: the index, which may have been there.
    /// - Throws: ``IndexProblem``
    package func addIndex(to table: TableName, for query: TableQuery) throws -> TableIndex {
        try mappingTransientErrors {
            try pool.withConnection {
                try PostgreSQLIndexes($0, schema: schema).add(to: table, for: query)
            }
        }
    }

    /// Drops an index.
    /// - Throws: ``IndexProblem``
    package func dropIndex(_ number: Int64, of table: TableName) throws {
        try mappingTransientErrors {
            try pool.withConnection {
                try PostgreSQLIndexes($0, schema: schema).drop(number, of: table)
            }
        }
    }
}

/// The indexes in PostgreSQL: `items_index_7` with the keys of index 7, and `items_oddities_7` with the rows that
/// it cannot serve alone.
///
/// Each is one of the rows of its table alone, so it has statistics of this table alone.
struct PostgreSQLIndexes {
    private let connection: PostgreSQLConnection
    private let schema: String
    private static let prefixes = ["items_index_", "items_oddities_"]
    /// The lock of a schema that one command at a time holds while it builds or drops; `undi` as a number.
    static let lock = "1970168937, hashtext($1::text)"

    init(_ connection: PostgreSQLConnection, schema: String) {
        (self.connection, self.schema) = (connection, schema)
    }

    func all() throws -> [(table: TableName, index: TableIndex)] {
        try connection.run("SELECT name, indexes FROM tables WHERE indexes <> '[]' ORDER BY folded")
            .flatMap { row in
                let name = TableName(try row.text(0))
                return try TableIndex.list(row.text(1)).compactMap { index in
                    name.map { ($0, index) }
                }
            }
    }

    func add(to name: TableName, for query: TableQuery) throws -> TableIndex {
        let table = try table(name)
        guard let shape = query.indexShape(spelling: table.table.spellings) else {
            throw IndexProblem(
                description: """
                    No index helps this query: it needs a column that is held to one value, or an order by a \
                    column.
                    """)
        }
        try check(shape.equalities + shape.order.map(\.expression).compactMap(\.column), of: table)
        return try alone {
            // Read anew: another command may just have ended.
            let indexes = try self.table(name).indexes
            if let present = indexes.first(where: { $0.shape == shape }) { return present }
            guard indexes.count < Limits.indexesOfTable else {
                throw IndexProblem(
                    description:
                        "The table \(name) has \(Limits.indexesOfTable) indexes already: drop one first.")
            }
            try dropLeftovers()
            let number = (try all().map(\.index.number).max() ?? 0) + 1
            let index = TableIndex(number: number, shape: shape)
            try build(index, of: table)
            try keep(indexes + [index], of: table)
            return index
        }
    }

    func drop(_ number: Int64, of name: TableName) throws {
        try alone {
            let table = try table(name)
            guard table.indexes.contains(where: { $0.number == number }) else {
                throw IndexProblem(
                    description: "The table \(name) has no index \(number). See: indexes list.")
            }
            try keep(table.indexes.filter { $0.number != number }, of: table)
            try dropLeftovers()
        }
    }

    // MARK: Parts

    private func table(_ name: TableName) throws -> TableRecord {
        guard let table = try PostgreSQLTables.find(connection, name) else {
            throw IndexProblem(
                description: "There is no table \(name): it comes with its first row.")
        }
        return table
    }

    private func check(_ columns: [Expression.Column], of table: TableRecord) throws {
        let known = table.table.columnsByKey
        for case .user(let path) in columns where known[ExactName(lowercasing: path[0])] == nil {
            throw IndexProblem(
                description: "The table \(table.table.name) has no column \(path[0]).")
        }
    }

    /// Runs something while no other command builds or drops. A command that was ended holds the lock until the
    /// server has ended what it had begun.
    private func alone<Value>(_ body: () throws -> Value) throws -> Value {
        let taken = try connection.run(
            "SELECT pg_try_advisory_lock(\(Self.lock))", [.text(schema)])
        guard try taken.first?.boolean(0) == true else {
            throw IndexProblem(
                description: "Another index is being built or dropped: try again when it is done.")
        }
        defer {
            _ = try? connection.run(
                "SELECT pg_advisory_unlock(\(Self.lock))", [.text(schema)])
        }
        return try body()
    }

    private func build(_ index: TableIndex, of table: TableRecord) throws {
        let compiler = PostgreSQLCompiler(
            hasIntegerIDs: table.table.options.idKind == .integer)
        let ofTable = "table_key = \(table.key)"
        let making = { (place: Int, keys: String, condition: String) in
            try connection.runAlone(
                """
                CREATE INDEX CONCURRENTLY \(Self.prefixes[place])\(index.number) ON items (\(keys)) \
                WHERE \(condition)
                """)
        }
        try making(0, compiler.indexKeys(index.shape), ofTable)
        if let oddity = compiler.indexOddity(index.shape) {
            try making(1, "(\(oddity))", "\(ofTable) AND (\(oddity)) IS NOT NULL")
        }
        // The planner learns how often each key is there.
        try connection.runAlone("ANALYZE items")
    }

    private func keep(_ indexes: [TableIndex], of table: TableRecord) throws {
        try connection.run(
            "UPDATE tables SET indexes = $1::text WHERE key = $2::bigint",
            [.text(TableIndex.text(indexes)), .integer(table.key)])
    }

    /// Drops the indexes that no table names: those of a command that was ended, and one that is dropped now.
    private func dropLeftovers() throws {
        let numbers = Set(try all().map { String($0.index.number) })
        let names = try connection.run(
            "SELECT indexname FROM pg_indexes WHERE schemaname = $1::name AND tablename = 'items'",
            [.text(schema)]
        ).map { try $0.text(0) }
        for name in names {
            guard let prefix = Self.prefixes.first(where: name.hasPrefix),
                !numbers.contains(String(name.dropFirst(prefix.count)))
            else { continue }
            try connection.runAlone(
                "DROP INDEX CONCURRENTLY \(PostgreSQLConnection.identifier(name))")
        }
    }
}

extension Expression {
    fileprivate var column: Column? {
        if case .column(let column) = self { return column }
        return nil
    }
}
