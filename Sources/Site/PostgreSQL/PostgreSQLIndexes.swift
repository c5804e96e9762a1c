import Backend
import PostgreSQL
package import TablesProtocol

/// Why an index cannot be built.
package struct IndexProblem: Error, CustomStringConvertible {
    /// A sentence that says what to do.
    package let description: String
    /// Whether it can be once another one is built or dropped.
    package var isForNow = false
}

/// An index that the settings name, for lists of a table in the order of a column: `todos:price desc`.
package struct WantedIndex: Sendable, Hashable {
    package static let allowed =
        "a table, a colon and a column, such as todos:price or todos:price desc; id and updatedAt have an index"

    package let table: TableName
    let shape: IndexShape
    /// Such as `price` or `price desc`.
    package var column: String { shape.text }

    /// Nil for a text of another form.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let table = TableName(String(parts[0])),
            let shape = IndexShape(String(parts[1])), shape.order.count == 1
        else { return nil }
        (self.table, self.shape) = (table, shape)
    }

    /// What became of it.
    package enum Outcome: Sendable {
        case built
        case refused(IndexProblem)
        /// The database is away; it is tried again.
        case waits(any Error)
    }

    /// Drops the indexes that the settings do not name, and then builds those that are missing, one after the
    /// other, on a thread of its own. While another node does that, or the database is away, it waits.
    package static func keep(
        _ indexes: [WantedIndex], at url: String,
        saying: @escaping @Sendable (WantedIndex, Outcome) -> Void
    ) throws {
        _ = try PostgreSQLPool(url, schema: "").submit(.brief) {
            while let pause = pause(after: { try $0.dropIndexes(but: indexes) }, at: url) {
                PostgreSQLPool.pause(milliseconds: pause)
            }
            for index in indexes {
                let build = { (storage: PostgreSQLRowStorage) in
                    if try storage.addIndex(index) { saying(index, .built) }
                }
                while let pause = pause(after: build, at: url, { saying(index, $0) }) {
                    PostgreSQLPool.pause(milliseconds: pause)
                }
            }
        }
    }

    /// - Returns: after how many milliseconds an attempt is to be repeated; nil where it is not.
    private static func pause(
        after attempt: (PostgreSQLRowStorage) throws -> Void, at url: String,
        _ saying: (Outcome) -> Void = { _ in }
    ) -> Int? {
        do {
            try attempt(PostgreSQLRowStorage(at: url))
            return nil
        } catch let problem as IndexProblem {
            if problem.isForNow { return Limits.indexPauseMilliseconds }
            saying(.refused(problem))
            return nil
        } catch {
            saying(.waits(error))
            return Limits.indexPauseWithoutDatabaseMilliseconds
        }
    }
}

// Indexes by columns. Nodes read and write while one is built, and use it with their next request.
extension PostgreSQLRowStorage {
    /// Builds an index if it is not there. It takes as long as it needs. What an earlier build has left that was
    /// ended is taken away.
    /// - Returns: false where the index was there.
    /// - Throws: ``IndexProblem``
    func addIndex(_ index: WantedIndex) throws -> Bool {
        try mappingTransientErrors {
            try pool.withConnection { try PostgreSQLIndexes($0, self).add(index) }
        }
    }

    /// Drops all other indexes by columns, also those that were not built to their end.
    /// - Throws: ``IndexProblem``
    func dropIndexes(but wanted: [WantedIndex]) throws {
        try mappingTransientErrors {
            try pool.withConnection { try PostgreSQLIndexes($0, self).drop(but: wanted) }
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

    func add(_ index: WantedIndex) throws -> Bool {
        try alone {
            guard let table = try PostgreSQLTables.find(connection, index.table) else {
                throw IndexProblem(
                    description: "There is no table \(index.table): it comes with its first row.")
            }
            let shape = try shape(index, of: table)
            let name = try Self.name(shape, of: table)
            guard
                let keys = PostgreSQLCompiler(
                    hasIntegerIDs: table.table.options.idKind == .integer
                ).indexKeys(shape)
            else {
                throw IndexProblem(description: "No list has the order \(index.column).")
            }
            if let isValid = try isValid(name) {
                if isValid, table.indexes.contains(shape) { return false }
                if !isValid { try dropIfThere(name) }
            }
            let others = table.indexes.filter { $0 != shape }
            guard others.count < Limits.indexesOfTable else {
                throw IndexProblem(
                    description: "A table has \(Limits.indexesOfTable) indexes at most.")
            }
            let items = PostgreSQLItems.partition(table.key)
            if try isValid(name) == nil {
                let quoted = PostgreSQLConnection.identifier(name)
                try connection.runAlone("CREATE INDEX CONCURRENTLY \(quoted) ON \(items) (\(keys))")
            }
            // The planner learns what the keys are like.
            try connection.runAlone("ANALYZE \(items)")
            try keep(others + [shape], of: table)
            return true
        }
    }

    func drop(but wanted: [WantedIndex]) throws {
        try alone {
            for row in try connection.run("SELECT name FROM tables") {
                guard let name = TableName(try row.text(0)),
                    let table = try PostgreSQLTables.find(connection, name)
                else { continue }
                let spellings = wanted.filter { $0.table == name }
                    .map { $0.shape.spelled(table.table.spellings) }
                let kept = table.indexes.filter(spellings.contains)
                if kept != table.indexes { try keep(kept, of: table) }
                let names = try spellings.map { try Self.name($0, of: table) }
                for index in try self.names(of: table) where !names.contains(index) {
                    try dropIfThere(index)
                }
            }
        }
    }

    /// The column of an index as a client would order by it.
    private func shape(_ index: WantedIndex, of table: TableRecord) throws -> IndexShape {
        let known = table.table.columnsByKey
        if let column = index.shape.userColumns.first, known[ExactName(lowercasing: column)] == nil
        {
            let names = known.values.map(\.name).sorted().joined(separator: ", ")
            throw IndexProblem(
                description: """
                    The table \(table.table.name) has no column \(column). It has \
                    \(names.isEmpty ? "none yet" : names).
                    """)
        }
        return index.shape.spelled(table.table.spellings)
    }

    private static func name(_ shape: IndexShape, of table: TableRecord) throws -> String {
        let name = "\(PostgreSQLItems.partition(table.key)) by \(shape.text)"
        guard name.utf8.count <= Limits.indexNameBytes else {
            throw IndexProblem(
                description: "The name of the column \(shape.text) is too long for an index.")
        }
        return name
    }

    private func names(of table: TableRecord) throws -> [String] {
        try connection.run(
            """
            SELECT indexname FROM pg_indexes
            WHERE schemaname = $1::name AND starts_with(indexname, $2::text)
            """,
            [.text(storage.schema), .text("\(PostgreSQLItems.partition(table.key)) by ")]
        ).map { try $0.text(0) }
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

    /// Runs something while no other node builds or drops. One that was ended holds the lock until the server has
    /// ended what it had begun.
    private func alone<Value>(_ body: () throws -> Value) throws -> Value {
        let schema = [PostgreSQLValue.text(storage.schema)]
        // Never waited for in PostgreSQL: a build waits for all statements that began before it.
        let taken = try connection.run("SELECT pg_try_advisory_lock(\(Self.lock))", schema)
        guard try taken.first?.boolean(0) == true else {
            throw IndexProblem(
                description: "Another node builds or drops an index.", isForNow: true)
        }
        defer { _ = try? connection.run("SELECT pg_advisory_unlock(\(Self.lock))", schema) }
        return try body()
    }
}
