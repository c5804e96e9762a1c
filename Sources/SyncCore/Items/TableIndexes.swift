import Storage
import Synchronization
public import TablesProtocol

enum IndexMaking {
    case made
    /// The table has ``StoreLimits/indexesPerTable`` indexes.
    case tooMany
    /// The index exists already, or was dropped meanwhile.
    case unknown
}

/// The indexes of all tables: `table_indexes`, and `tables.indexes`, which repeats those that are built.
struct TableIndexes {
    let transaction: Transaction
    private var now: Int64 { transaction.now.milliseconds }

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// The row of a shape, added if there is none; nil if the table was removed.
    func row(of shape: IndexShape, in table: Int64) throws -> Int64? {
        let text = JSONList.text(shape.terms)
        let known = try transaction.integer(
            "SELECT id FROM table_indexes WHERE table_id = ? AND shape = ?", [table, text])
        if let known { return known }
        guard try transaction.tables.table(id: table) != nil else { return nil }
        return try transaction.integer(
            "INSERT INTO table_indexes(table_id, shape, seen_at) VALUES (?, ?, ?) RETURNING id",
            [table, text, now])
    }

    /// Decides whether the build of the index that a query needs may start.
    func start(_ name: TableName, for query: TableQuery) throws -> IndexStart {
        guard let table = try transaction.tables.table(name) else { return .unknownTable }
        let shape = query.indexShape { table.spellings.spelling(of: $0) }
        guard let shape else { return .notServed }
        if let built = table.indexes.first(where: { $0.shape == shape }) {
            return .present(built.id)
        }
        guard table.indexes.count < StoreLimits.indexesPerTable,
            let id = try row(of: shape, in: table.id)
        else { return .tooMany }
        return .started(id)
    }

    /// Builds the index of a row in `table_indexes`.
    func build(_ id: Int64) throws -> IndexMaking {
        let found = try transaction.first(
            "SELECT table_id, shape FROM table_indexes WHERE id = ? AND built_at IS NULL", [id]
        ) { (table: $0[0] as Int64, shape: $0[1] as String) }
        guard let found, let table = try transaction.tables.table(id: found.table),
            let shape = IndexShape(terms: JSONList.names(found.shape))
        else { return .unknown }
        // Another index may have been built since this build was requested.
        guard table.indexes.count < StoreLimits.indexesPerTable else { return .tooMany }
        try transaction.run(TableIndex.making(id, shape, of: table), keep: false)
        try transaction.run(
            "UPDATE table_indexes SET built_at = ? WHERE id = ?", [now, id])
        try repeatBuilt(of: table.id)
        return .made
    }

    /// Builds all indexes again after a restore, which copies only the rows of a backup.
    func rebuildAll() throws {
        let built = try transaction.all(
            "SELECT id FROM table_indexes WHERE built_at IS NOT NULL ORDER BY id"
        ) { $0[0] as Int64 }
        try transaction.run("UPDATE table_indexes SET built_at = NULL")
        try transaction.run("UPDATE tables SET indexes = '[]'")
        for id in built { _ = try build(id) }
    }

    /// Forgets indexes that were not built to their end, and builds those anew that an earlier version made with
    /// other keys: no list could use them.
    func renew() throws {
        try transaction.run("DELETE FROM table_indexes WHERE built_at IS NULL")
        let built = try transaction.all(
            """
            SELECT table_indexes.id, table_id, shape, sql FROM table_indexes
            LEFT JOIN sqlite_schema ON type = 'index' AND name = 'items_index_' || table_indexes.id
            WHERE built_at IS NOT NULL ORDER BY table_indexes.id
            """
        ) {
            (
                id: $0[0] as Int64, table: $0[1] as Int64, shape: $0[2] as String,
                sql: $0[3] as String?
            )
        }
        for index in built {
            guard let table = try transaction.tables.table(id: index.table),
                let shape = IndexShape(terms: JSONList.names(index.shape))
            else { continue }
            let making = TableIndex.making(index.id, shape, of: table)
            if index.sql == making { continue }
            try transaction.run("DROP INDEX IF EXISTS \(TableIndex.name(index.id))", keep: false)
            try transaction.run(making, keep: false)
        }
    }

    /// Drops an index.
    /// - Returns: false if the table has no such index.
    func drop(_ id: Int64, of table: Int64) throws -> Bool {
        guard try statuses(of: table).contains(where: { $0.id == id }) else { return false }
        try transaction.run("DROP INDEX IF EXISTS \(TableIndex.name(id))", keep: false)
        try transaction.run("DELETE FROM table_indexes WHERE id = ?", [id])
        try repeatBuilt(of: table)
        return true
    }

    private func repeatBuilt(of table: Int64) throws {
        let built = try transaction.all(
            """
            SELECT id, shape FROM table_indexes WHERE table_id = ? AND built_at IS NOT NULL
            ORDER BY id
            """, [table]
        ) { ["\($0[0] as Int64)"] + JSONList.names($0[1]) }
        try transaction.run(
            "UPDATE tables SET indexes = ? WHERE id = ?", [JSONList.text(built), table])
        transaction.effects.changedTables = true
    }

    /// The status of a table's indexes, the built ones first.
    func statuses(of table: Int64) throws -> [IndexStatus] {
        try transaction.all(
            """
            SELECT id, shape, built_at FROM table_indexes WHERE table_id = ?
            ORDER BY built_at IS NULL, id
            """, [table]
        ) { row in
            guard let shape = IndexShape(terms: JSONList.names(row[1])) else { return nil }
            return IndexStatus(
                id: row[0], columns: shape.words,
                builtAt: (row[2] as Int64?).map { Instant(milliseconds: $0) })
        }
    }
}

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

/// An index as the operator sees it.
public struct IndexStatus: Sendable, Hashable {
    public var id: Int64
    /// The columns: those compared with one value, then those of the order.
    public var columns: [String]
    /// When it was built; nil if it is not.
    public var builtAt: Instant?
    /// How much of it is built, in percent; nil if it is not being built.
    public var percent: Int?
    /// Why the last build failed, in plain words.
    public var problem: String?
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
    /// The table has ``StoreLimits/indexesPerTable`` indexes.
    case tooMany
    /// No index can serve the query, or the fixed indexes serve it.
    case notServed
}

/// The index that is being built, its progress, and the errors of earlier builds. Kept in memory.
final class IndexProgress: Sendable {
    /// A snapshot.
    struct Present: Sendable {
        /// The index that is being built or about to be.
        var index: Int64?
        var percent = 0
        /// Why indexes could not be built.
        var problems: [Int64: String] = [:]

        /// Copies the snapshot into the status of indexes.
        func write(to indexes: inout [IndexStatus]) {
            for place in indexes.indices where indexes[place].builtAt == nil {
                indexes[place].percent = indexes[place].id == index ? percent : nil
                indexes[place].problem = problems[indexes[place].id]
            }
        }
    }

    /// The SQLite steps that building an index takes for each row of the store.
    private static let stepsPerRow = 13
    private let statement = StatementProgress()
    private let goal = Atomic<Int>(0)
    private let state = Mutex(Present())

    /// The present snapshot.
    var present: Present {
        var present = state.withLock { $0 }
        present.percent = min(99, statement.steps * 100 / max(goal.load(ordering: .relaxed), 1))
        return present
    }

    /// Reserves the build of an index; false while another one is being built.
    func reserve(_ index: Int64) -> Bool {
        state.withLock { state in
            if state.index != nil { return false }
            state.index = index
            state.problems[index] = nil
            statement.restart()
            return true
        }
    }

    /// Ends a build, with the reason of a failure.
    func end(_ index: Int64, problem: String?) {
        state.withLock { state in
            state.index = nil
            state.problems[index] = problem
        }
    }

    /// Forgets the failure of an index that is dropped, because another one may get its number.
    func forget(_ index: Int64) { state.withLock { $0.problems[index] = nil } }

    /// Counts the steps of a build.
    func whileMaking<T>(_ db: Connection, _ body: () throws -> T) throws -> T {
        let rows = Int(try db.integer("SELECT coalesce(max(rowid), 0) FROM items") ?? 0)
        goal.store(rows * Self.stepsPerRow, ordering: .relaxed)
        return try statement.counting(db, body)
    }
}

extension Store {
    /// Starts to build the index that a query needs. ``tables()`` reports the progress. Writers wait for the build, readers do
    /// not.
    public func startIndex(
        _ name: TableName, for query: TableQuery
    ) async throws(StoreError) -> IndexStart {
        let start = try await write { try TableIndexes($0).start(name, for: query) }
        guard case .started(let id) = start else { return start }
        guard indexProgress.reserve(id) else { return .busy }
        writer.write(inBudget: true) {
            try self.build(id, $0)
        } completion: { result in
            self.indexProgress.end(id, problem: self.problem(result))
        }
        return start
    }

    /// Drops an index of a table.
    /// - Returns: false if the table has no such index.
    public func dropIndex(_ name: TableName, _ id: Int64) async throws(StoreError) -> Bool {
        let isDropped = try await write { transaction in
            guard let table = try transaction.tables.table(name) else { return false }
            return try TableIndexes(transaction).drop(id, of: table.id)
        }
        if isDropped { indexProgress.forget(id) }
        return isDropped
    }

    /// Builds one index, if enough of the disk budget stays free for other things.
    private func build(_ id: Int64, _ transaction: Transaction) throws -> IndexMaking {
        let making = try indexProgress.whileMaking(transaction.db) {
            try TableIndexes(transaction).build(id)
        }
        let isRoomLeft = try writer.budget?.hasFreePart(
            of: StoreLimits.budgetsFreeBesideIndexes, transaction.db)
        guard isRoomLeft ?? true else { throw StorageError.full }
        return making
    }

    /// Why an index was not built; nil if it was built, or was dropped meanwhile.
    private func problem(_ result: Result<IndexMaking, StorageError>) -> String? {
        switch result {
        case .success(.made), .success(.unknown): nil
        case .success(.tooMany):
            "The table has \(StoreLimits.indexesPerTable) indexes already: drop one first."
        case .failure(.full), .failure(.overBudget):
            writer.budget == nil
                ? "There is no room for it on the disk: make some, then build it again."
                : "The store has no room for it: raise --disk-budget, then build it again."
        case .failure(let error): StoreError(error).description
        }
    }
}
