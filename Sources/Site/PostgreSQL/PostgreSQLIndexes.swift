import Backend
import PostgreSQL
package import TablesProtocol

/// An index that the operator has built, for lists of a table in the order of a column.
package struct TableIndex: Sendable, Hashable {
    package let table: TableName
    /// Such as `price` or `price desc`.
    package let column: String
    /// Whether lists use it. One that is not was left by a build that was ended.
    package let isReady: Bool
    package let bytes: Int64
    /// How often it was used since the server counts.
    package let uses: Int64
}

/// Why an index cannot be built or dropped.
package struct IndexProblem: Error, CustomStringConvertible {
    /// A sentence that says what to do.
    package let description: String
    /// Whether it can be once another one is built or dropped.
    package var isForNow = false
}

/// An index that the settings name: `todos:price desc`.
package struct WantedIndex: Sendable, Hashable {
    package static let allowed =
        "a table, a colon and a column, such as todos:price or todos:price desc"

    package let table: TableName
    package let column: String

    /// Nil for a text of another form.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let table = TableName(String(parts[0])) else { return nil }
        (self.table, column) = (table, String(parts[1]))
    }

    /// What became of it.
    package enum Outcome: Sendable {
        case built
        case refused(IndexProblem)
        /// The database is away; it is tried again.
        case waits(any Error)
    }

    /// Builds those that are not there, one after the other, on a thread of its own. While another node builds, or
    /// the database is away, it waits.
    package static func build(
        _ indexes: [WantedIndex], at url: String,
        saying: @escaping @Sendable (WantedIndex, Outcome) -> Void
    ) throws {
        if indexes.isEmpty { return }
        _ = try PostgreSQLPool(url, schema: "").submit(.brief) {
            for index in indexes {
                while let pause = index.pauseAfterAttempt(at: url, saying) {
                    PostgreSQLPool.pause(milliseconds: pause)
                }
            }
        }
    }

    /// Builds it if it is not there.
    /// - Returns: after how many milliseconds it is to be tried again; nil where it is not.
    private func pauseAfterAttempt(
        at url: String, _ saying: (WantedIndex, Outcome) -> Void
    ) -> Int? {
        do {
            let storage = try PostgreSQLRowStorage(at: url)
            let isNew = try storage.addIndex(of: table, by: column, saying: { _ in })
            if isNew { saying(self, .built) }
            return nil
        } catch let problem as IndexProblem {
            if problem.isForNow { return Limits.indexPauseMilliseconds }
            saying(self, .refused(problem))
            return nil
        } catch {
            saying(self, .waits(error))
            return Limits.indexPauseWithoutDatabaseMilliseconds
        }
    }
}

// Indexes by columns. Nodes read and write while one is built, and use it with their next request.
extension PostgreSQLRowStorage {
    /// The indexes of all tables.
    package func indexes() throws -> [TableIndex] {
        try runningOneStatement { try PostgreSQLIndexes($0, self).all() }
    }

    /// Builds the index that lists in the order of a column need. It takes as long as it needs. What an earlier
    /// call has left that was ended is taken away.
    /// - Parameters:
    ///   - column: such as `price` or `price desc`.
    ///   - saying: is told now and then how far it is.
    /// - Returns: false where the index was there.
    /// - Throws: ``IndexProblem``
    package func addIndex(
        of table: TableName, by column: String, saying: @escaping (String) -> Void
    ) throws -> Bool {
        try mappingTransientErrors {
            try pool.withConnection {
                try PostgreSQLIndexes($0, self).add(table, column, saying)
            }
        }
    }

    /// Drops an index.
    /// - Throws: ``IndexProblem``
    package func dropIndex(of table: TableName, by column: String) throws {
        try mappingTransientErrors {
            try pool.withConnection { try PostgreSQLIndexes($0, self).drop(table, column) }
        }
    }
}

/// The indexes in PostgreSQL: `items_7 by price desc` of the table with the key 7.
struct PostgreSQLIndexes {
    private let connection: PostgreSQLConnection
    private let storage: PostgreSQLRowStorage
    /// The lock of a schema that builds and drops wait for; `undi` as a number.
    static let lock = "1970168937, hashtext($1::text)"

    init(_ connection: PostgreSQLConnection, _ storage: PostgreSQLRowStorage) {
        (self.connection, self.storage) = (connection, storage)
    }

    func all() throws -> [TableIndex] {
        let rows = try connection.run(
            """
            SELECT tables.name, split_part(indexrelname, ' by ', 2), indisvalid,
              pg_relation_size(indexrelid), coalesce(idx_scan, 0)
            FROM pg_stat_user_indexes JOIN pg_index USING (indexrelid)
              JOIN tables ON indexrelname LIKE 'items\\_' || key || ' by %'
            WHERE schemaname = $1::name ORDER BY folded, indexrelname
            """, [.text(storage.schema)], keep: false)
        return try rows.compactMap { row in
            guard let table = TableName(try row.text(0)) else { return nil }
            let column = try row.text(1)
            let listed = try PostgreSQLTables.find(connection, table)?.indexes ?? []
            return TableIndex(
                table: table, column: column,
                isReady: try row.boolean(2) && listed.contains { $0.words == [column] },
                bytes: try row.integer(3), uses: try row.integer(4))
        }
    }

    func add(
        _ name: TableName, _ column: String, _ saying: @escaping (String) -> Void
    ) throws -> Bool {
        try alone {
            let table = try table(name)
            let shape = try shape(column, of: table)
            let index = try Self.name(shape, of: table)
            guard
                let keys = PostgreSQLCompiler(
                    hasIntegerIDs: table.table.options.idKind == .integer
                ).indexKeys(shape)
            else { throw Self.noColumn(column) }
            if let isValid = try isValid(index) {
                if isValid, table.indexes.contains(shape) { return false }
                if !isValid { try dropIfThere(index) }
            }
            let others = table.indexes.filter { $0 != shape }
            guard others.count < Limits.indexesOfTable else {
                throw IndexProblem(
                    description: """
                        The table \(table.table.name) has \(Limits.indexesOfTable) indexes. Drop one first.
                        """)
            }
            let items = PostgreSQLItems.partition(table.key)
            if try isValid(index) == nil {
                let quoted = PostgreSQLConnection.identifier(index)
                try build("CREATE INDEX CONCURRENTLY \(quoted) ON \(items) (\(keys))", saying)
            }
            // The planner learns what the keys are like.
            try connection.runAlone("ANALYZE \(items)")
            try keep(others + [shape], of: table)
            return true
        }
    }

    func drop(_ name: TableName, _ column: String) throws {
        try alone {
            let table = try table(name)
            let shape = try shape(column, of: table)
            let index = try Self.name(shape, of: table)
            guard try isValid(index) != nil || table.indexes.contains(shape) else {
                throw IndexProblem(
                    description: "The table \(table.table.name) has no index by \(column).")
            }
            try keep(table.indexes.filter { $0 != shape }, of: table)
            try dropIfThere(index)
        }
    }

    private func table(_ name: TableName) throws -> TableRecord {
        guard let table = try PostgreSQLTables.find(connection, name) else {
            throw IndexProblem(
                description: "There is no table \(name): it comes with its first row.")
        }
        return table
    }

    /// The index of a column as a client would order by it.
    private func shape(_ column: String, of table: TableRecord) throws -> IndexShape {
        let order = QueryParameter(name: "$orderby", value: column, raw: column)
        guard
            let query = try? TableQuery.parse([order], generation: .mobileApps),
            query.orderBy.count == 1,
            let shape = query.indexShape(spelling: table.table.spellings),
            case .column(.user(let path))? = shape.order.first?.expression
        else { throw Self.noColumn(column) }
        let known = table.table.columnsByKey
        guard known[ExactName(lowercasing: path[0])] != nil else {
            let names = known.values.map(\.name).sorted().joined(separator: ", ")
            throw IndexProblem(
                description: """
                    The table \(table.table.name) has no column \(path[0]). It has \
                    \(names.isEmpty ? "none yet" : names).
                    """)
        }
        return shape
    }

    private static func noColumn(_ text: String) -> IndexProblem {
        IndexProblem(
            description: """
                "\(text)" is no column of the user. Name one, such as price, or price desc for lists in \
                that direction; id and updatedAt have an index.
                """)
    }

    private static func name(_ shape: IndexShape, of table: TableRecord) throws -> String {
        let column = shape.words.joined()
        let name = "\(PostgreSQLItems.partition(table.key)) by \(column)"
        guard name.utf8.count <= Limits.indexNameBytes else {
            throw IndexProblem(
                description: "The name of the column \(column) is too long for an index.")
        }
        return name
    }

    /// Whether an index is whole; nil where there is none.
    private func isValid(_ index: String) throws -> Bool? {
        try connection.run(
            """
            SELECT indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE relname = $1::name AND relnamespace = to_regnamespace($2::text)
            """, [.text(index), .text(PostgreSQLConnection.identifier(storage.schema))]
        ).first?.boolean(0)
    }

    private func dropIfThere(_ index: String) throws {
        try connection.runAlone(
            "DROP INDEX CONCURRENTLY IF EXISTS \(PostgreSQLConnection.identifier(index))")
    }

    private func keep(_ indexes: [IndexShape], of table: TableRecord) throws {
        try connection.run(
            "UPDATE tables SET indexes = $1::text WHERE key = $2::bigint",
            [.text(PostgreSQLTables.text(indexes)), .integer(table.key)])
    }

    /// Runs something while no other node or command builds or drops. One that was ended holds the lock until the
    /// server has ended what it had begun.
    private func alone<Value>(_ body: () throws -> Value) throws -> Value {
        let schema = [PostgreSQLValue.text(storage.schema)]
        // Never waited for in PostgreSQL: a build waits for all statements that began before it.
        let taken = try connection.run("SELECT pg_try_advisory_lock(\(Self.lock))", schema)
        guard try taken.first?.boolean(0) == true else {
            throw IndexProblem(
                description: "Another index is being built or dropped. Try again when it is done.",
                isForNow: true)
        }
        defer { _ = try? connection.run("SELECT pg_advisory_unlock(\(Self.lock))", schema) }
        return try body()
    }

    /// Builds an index, and says meanwhile how far it is.
    private func build(_ sql: String, _ saying: @escaping (String) -> Void) throws {
        let process = try connection.run("SELECT pg_backend_pid()").first?.integer(0) ?? 0
        try connection.runAlone(sql) {
            let rows = try? storage.pool.withConnection { other in
                try other.run(
                    """
                    SELECT phase || coalesce(', ' || 100 * blocks_done / nullif(blocks_total, 0) || ' %', '')
                    FROM pg_stat_progress_create_index WHERE pid = $1::integer
                    """, [.integer(process)])
            }
            if let text = try? rows?.first?.text(0) { saying(text) }
        }
    }
}
