import Storage
import TablesProtocol

/// The outcome of building an index.
enum IndexMaking {
    case made
    /// The table has ``StoreLimits/indexesPerTable`` indexes.
    case tooMany
    /// The index exists already, or was dropped meanwhile.
    case unknown
}

/// The built and suggested indexes of all tables: `table_indexes`, and `tables.indexes`, which repeats the
/// built ones.
struct TableIndexes {
    let transaction: Transaction
    private var now: Int64 { transaction.now.milliseconds }

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Adds the notes of recent lists.
    ///
    /// 1. The counts are halved for each day that has passed, so that old queries lose weight.
    /// 2. Used indexes and needed shapes were seen now.
    /// 3. Suggestions that no list needed for ``StoreLimits/indexSuggestionDays`` are removed.
    func add(_ notes: CostlyLists.Notes) throws {
        try halveCounts()
        for id in notes.used {
            try transaction.run("UPDATE table_indexes SET seen_at = ? WHERE id = ?", [now, id])
        }
        for (suggestion, cost) in notes.suggestions {
            guard let id = try row(of: suggestion.shape, in: suggestion.table) else { continue }
            try transaction.run(
                """
                UPDATE table_indexes SET queries = queries + ?, steps = steps + ?, seen_at = ?
                WHERE id = ?
                """, [cost.queries, cost.steps, now, id])
        }
        try transaction.run(
            "DELETE FROM table_indexes WHERE built_at IS NULL AND seen_at < ?",
            [now - Int64(StoreLimits.indexSuggestionDays) * Self.day])
    }

    private static let day: Int64 = 86_400_000

    private func halveCounts() throws {
        let key = "indexes_halved_at"
        guard let last = try transaction.integer("SELECT value FROM meta WHERE key = ?", [key])
        else {
            try transaction.run("INSERT INTO meta VALUES (?, ?)", [key, now])
            return
        }
        let days = min(max((now - last) / Self.day, 0), StoreLimits.halvings)
        if days == 0 { return }
        try transaction.run(
            "UPDATE table_indexes SET queries = queries >> ?1, steps = steps >> ?1", [days])
        try transaction.run(
            "UPDATE meta SET value = ? WHERE key = ?", [last + days * Self.day, key])
    }

    /// The row of a shape, added if there are fewer than ``StoreLimits/indexSuggestions``; nil if there are
    /// too many.
    func row(of shape: IndexShape, in table: Int64) throws -> Int64? {
        let text = JSONList.text(shape.terms)
        let known = try transaction.integer(
            "SELECT id FROM table_indexes WHERE table_id = ? AND shape = ?", [table, text])
        if let known { return known }
        // The table may have been removed since the list was noted.
        guard try transaction.tables.table(id: table) != nil else { return nil }
        let count = try transaction.integer(
            "SELECT count(*) FROM table_indexes WHERE table_id = ?", [table])
        guard count ?? 0 < StoreLimits.indexSuggestions else { return nil }
        return try transaction.integer(
            "INSERT INTO table_indexes(table_id, shape, seen_at) VALUES (?, ?, ?) RETURNING id",
            [table, text, now])
    }

    /// Decides whether a build may start.
    func start(_ name: TableName, _ choice: IndexChoice) throws -> IndexStart {
        guard let table = try transaction.tables.table(name) else { return .unknownTable }
        let isFull = table.indexes.count >= StoreLimits.indexesPerTable
        switch choice {
        case .known(let id):
            let known = try statuses(of: table.id).first { $0.id == id }
            guard let known else { return .unknownIndex }
            if known.builtAt != nil { return .present(id) }
            return isFull ? .tooMany : .started(id)
        case .query(let query):
            let shape = query.indexShape { table.spellings.spelling(of: $0) }
            guard let shape else { return .notServed }
            if let built = table.indexes.first(where: { $0.shape == shape }) {
                return .present(built.id)
            }
            guard !isFull, let id = try row(of: shape, in: table.id) else { return .tooMany }
            return .started(id)
        }
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
            "UPDATE table_indexes SET built_at = ?1, seen_at = ?1 WHERE id = ?2", [now, id])
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

    /// Builds the indexes anew that an earlier version made with other keys: no list could use them.
    func renew() throws {
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

    /// Drops an index and its counts.
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
            SELECT id, shape, queries, seen_at, built_at FROM table_indexes WHERE table_id = ?
            ORDER BY built_at IS NULL, steps DESC, id
            """, [table]
        ) { row in
            guard let shape = IndexShape(terms: JSONList.names(row[1])) else { return nil }
            return IndexStatus(
                id: row[0], columns: shape.words, queries: row[2],
                seenAt: Instant(milliseconds: row[3]),
                builtAt: (row[4] as Int64?).map { Instant(milliseconds: $0) })
        }
    }
}
