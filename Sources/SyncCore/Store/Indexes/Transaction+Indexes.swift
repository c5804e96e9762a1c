import TablesProtocol

/// What became of an index that was to be made.
enum IndexMaking {
    case made
    /// The table has as many as it may have.
    case tooMany
    case noRoom
    /// It is there already, or nobody asks for it any more.
    case unknown
}

extension Transaction {
    /// Adds what the readers noticed to what is known.
    ///
    /// 1. Counts halve for each day that went by, so that old habits fade.
    /// 2. Used indexes and wished shapes were seen now.
    /// 3. Shapes that nobody wished for in ``StoreLimits/indexIdleDays`` are forgotten.
    func learn(_ notes: QueryWatch.Notes) throws {
        try halveCounts()
        for id in notes.used {
            try run("UPDATE learned_indexes SET seen_at = ? WHERE id = ?", [now.milliseconds, id])
        }
        for (table, commits) in notes.commits {
            try run(
                "UPDATE table_counters SET commits = commits + ? WHERE table_id = ?",
                [commits, table])
        }
        for (wish, cost) in notes.wishes {
            guard let id = try indexRow(wish.shape, of: wish.table) else { continue }
            try run(
                """
                UPDATE learned_indexes SET queries = queries + ?, steps = steps + ?, seen_at = ?
                WHERE id = ?
                """, [cost.queries, cost.steps, now.milliseconds, id])
        }
        try run(
            "DELETE FROM learned_indexes WHERE built_at IS NULL AND seen_at < ?",
            [now.milliseconds - Int64(StoreLimits.indexIdleDays) * 86_400_000])
    }

    private func halveCounts() throws {
        let key = "indexes_halved_at"
        let day: Int64 = 86_400_000
        guard let last = try integer("SELECT value FROM meta WHERE key = ?", [key]) else {
            try run("INSERT INTO meta VALUES (?, ?)", [key, now.milliseconds])
            return
        }
        let days = min(max((now.milliseconds - last) / day, 0), 62)
        if days == 0 { return }
        try run("UPDATE learned_indexes SET queries = queries >> ?1, steps = steps >> ?1", [days])
        try run("UPDATE table_counters SET commits = commits >> ?", [days])
        try run("UPDATE meta SET value = ? WHERE key = ?", [last + days * day, key])
    }

    /// The row of a shape, made when there is room for one more; nil when there is none.
    func indexRow(_ shape: IndexShape, of table: Int64) throws -> Int64? {
        let text = JSONList.text(shape.terms)
        let known = try integer(
            "SELECT id FROM learned_indexes WHERE table_id = ? AND shape = ?", [table, text])
        if let known { return known }
        let count = try integer(
            "SELECT count(*) FROM learned_indexes WHERE table_id = ?", [table])
        guard count ?? 0 < StoreLimits.indexWishes else { return nil }
        return try integer(
            "INSERT INTO learned_indexes(table_id, shape, seen_at) VALUES (?, ?, ?) RETURNING id",
            [table, text, now.milliseconds])
    }

    /// All shapes that are known, and the tables that they are of.
    func indexCounts() throws -> ([IndexAdvice.Shape], [Int64: IndexAdvice.Table]) {
        let shapes = try all(
            "SELECT id, table_id, queries, steps, seen_at, built_at IS NOT NULL FROM learned_indexes"
        ) { row in
            IndexAdvice.Shape(
                id: row[0], table: row[1], queries: row[2], steps: row[3],
                seenAt: Instant(milliseconds: row[4]), isBuilt: row[5])
        }
        let tables = try all("SELECT table_id, live_items, commits FROM table_counters") { row in
            (row[0] as Int64, IndexAdvice.Table(rows: row[1], commits: row[2]))
        }
        return (shapes, Dictionary(uniqueKeysWithValues: tables))
    }

    /// Makes the index of a shape.
    func makeIndex(_ id: Int64) throws -> IndexMaking {
        let found = try first(
            "SELECT table_id, shape FROM learned_indexes WHERE id = ? AND built_at IS NULL", [id]
        ) { (table: $0[0] as Int64, shape: $0[1] as String) }
        guard let found, let table = try table(id: found.table),
            let shape = IndexShape(terms: JSONList.names(found.shape))
        else { return .unknown }
        // Another one may have been made since this one was decided on.
        guard table.indexes.count < StoreLimits.indexesPerTable else { return .tooMany }
        try run(LearnedIndex.making(id, shape, of: table), keep: false)
        try run(
            "UPDATE learned_indexes SET built_at = ?1, seen_at = ?1 WHERE id = ?2",
            [now.milliseconds, id])
        try listIndexes(of: table.id)
        return .made
    }

    /// Makes the indexes anew that a file is said to have.
    func makeIndexesAgain() throws {
        let built = try all("SELECT id FROM learned_indexes WHERE built_at IS NOT NULL ORDER BY id")
        {
            $0[0] as Int64
        }
        try run("UPDATE learned_indexes SET built_at = NULL")
        try run("UPDATE tables SET indexes = '[]'")
        for id in built { _ = try makeIndex(id) }
    }

    /// Drops an index with all that was counted of it; false when there is none.
    func dropIndex(_ id: Int64) throws -> Bool {
        let table = try integer("SELECT table_id FROM learned_indexes WHERE id = ?", [id])
        guard let table else { return false }
        try run("DROP INDEX IF EXISTS \(LearnedIndex.name(id))", keep: false)
        try run("DELETE FROM learned_indexes WHERE id = ?", [id])
        try listIndexes(of: table)
        return true
    }

    /// Forgets what a shape was counted, so that it is not tried again before it is wanted again.
    func forgetCounts(ofIndex id: Int64) throws {
        try run("UPDATE learned_indexes SET queries = 0, steps = 0 WHERE id = ?", [id])
    }

    private func listIndexes(of table: Int64) throws {
        let built = try all(
            """
            SELECT id, shape FROM learned_indexes WHERE table_id = ? AND built_at IS NOT NULL
            ORDER BY id
            """, [table]
        ) { ["\($0[0] as Int64)"] + JSONList.names($0[1]) }
        try run("UPDATE tables SET indexes = ? WHERE id = ?", [JSONList.text(built), table])
        effects.changedTables = true
    }

    /// What is known of a table's indexes, the built ones first.
    func indexStatuses(of table: Int64) throws -> [IndexStatus] {
        try all(
            """
            SELECT id, shape, queries, seen_at, built_at FROM learned_indexes WHERE table_id = ?
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
