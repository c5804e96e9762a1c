import Storage
import Synchronization
import TablesProtocol

/// The indexes of all tables: `table_indexes` has those that the settings of the tables name, `tables.indexes`
/// repeats the columns of those that are built.
struct TableIndexes {
    let transaction: Transaction

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// An index that a table's settings name.
    private struct Named {
        let id: Int64
        let table: Int64
        let text: String
        let isBuilt: Bool
    }

    private func named(in table: Int64? = nil) throws -> [Named] {
        try transaction.all(
            """
            SELECT id, table_id, shape, built_at IS NOT NULL FROM table_indexes
            WHERE table_id = coalesce(?, table_id) ORDER BY shape
            """, [table]
        ) { Named(id: $0[0], table: $0[1], text: $0[2], isBuilt: $0[3]) }
    }

    /// The indexes that a table's settings name, in alphabetical order.
    func settings(of table: Int64) throws -> [String] { try named(in: table).map(\.text) }

    /// Makes the indexes of a table those of its settings: drops others, and notes which are to be built.
    func set(_ texts: [String], of table: Int64) throws {
        let known = try named(in: table)
        for index in known where !texts.contains(index.text) { try remove(index) }
        for text in texts where !known.contains(where: { $0.text == text }) {
            try transaction.run(
                "INSERT INTO table_indexes(table_id, shape, seen_at) VALUES (?, ?, ?)",
                [table, text, transaction.now.milliseconds])
        }
    }

    private func remove(_ index: Named) throws {
        try transaction.run("DROP INDEX IF EXISTS \(TableIndex.name(index.id))", keep: false)
        try transaction.run("DELETE FROM table_indexes WHERE id = ?", [index.id])
        try setBuilt(try transaction.tables.table(id: index.table)?.indexes ?? [], without: index)
    }

    /// The indexes that can be built: a row has their columns.
    func missing() throws -> [Int64] {
        try named().filter { index in
            try !index.isBuilt
                && transaction.tables.table(id: index.table).map { table in
                    try columnsWithoutRow(index, table).isEmpty
                } ?? false
        }.map(\.id)
    }

    private func columnsWithoutRow(_ index: Named, _ table: TableRecord) throws -> [String] {
        (IndexShape(index.text)?.userColumns ?? []).filter { !table.spellings.has($0) }
    }

    /// Builds an index; does nothing where it is built, or is in no settings any more.
    func build(_ id: Int64) throws {
        guard let index = try named().first(where: { $0.id == id && !$0.isBuilt }),
            let table = try transaction.tables.table(id: index.table),
            let shape = IndexShape(index.text)?.spelled({ table.spellings.spelling(of: $0) })
        else { return }
        let made = TableIndex(id: id, shape: shape)
        try transaction.run("DROP INDEX IF EXISTS \(TableIndex.name(id))", keep: false)
        try transaction.run(made.making(of: table), keep: false)
        try transaction.run(
            "UPDATE table_indexes SET built_at = ? WHERE id = ?",
            [transaction.now.milliseconds, id])
        try setBuilt(table.indexes + [made], of: table.id)
    }

    /// Finds the indexes that are not as this version builds them, for example after a restore, which copies rows
    /// only. They are built anew. Those with columns that no setting can name are removed.
    func check() throws {
        for index in try named() {
            guard let table = try transaction.tables.table(id: index.table) else { continue }
            guard IndexShape(index.text) != nil else {
                try remove(index)
                continue
            }
            let sql = try transaction.first(
                "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?",
                [TableIndex.name(index.id)]
            ) { $0[0] as String }
            let built = table.indexes.first { $0.id == index.id }
            if index.isBuilt, sql != nil, sql == built?.making(of: table) { continue }
            try transaction.run("UPDATE table_indexes SET built_at = NULL WHERE id = ?", [index.id])
            try setBuilt(table.indexes, without: index)
        }
    }

    private func setBuilt(_ indexes: [TableIndex], without index: Named) throws {
        try setBuilt(indexes.filter { $0.id != index.id }, of: index.table)
    }

    private func setBuilt(_ indexes: [TableIndex], of table: Int64) throws {
        try transaction.run(
            "UPDATE tables SET indexes = ? WHERE id = ?", [TableIndex.text(indexes), table])
        transaction.effects.changedTables = true
    }

    /// Sentences about the indexes of a table that are not built.
    /// - Parameter problems: why builds have failed.
    func sentences(_ table: TableRecord, _ problems: [Int64: String]) throws -> [String] {
        try named(in: table.id).filter { !$0.isBuilt }.map { index in
            if let column = try columnsWithoutRow(index, table).first {
                return "Its index by \(index.text) is not built: no row has a column \(column)."
            }
            return problems[index.id].map { "Its index by \(index.text) is not built: \($0)" }
                ?? "Its index by \(index.text) is not built yet."
        }
    }
}

/// An index that is built.
struct TableIndex: Sendable, Hashable {
    /// The id of its row in `table_indexes`, and the number in its name.
    let id: Int64
    /// With the spelling of the table.
    let shape: IndexShape

    /// The index's name in SQLite.
    static func name(_ id: Int64) -> String { "items_index_\(id)" }

    /// The WHERE condition of a table's indexes, which a list must contain to use one.
    ///
    /// It means `table_id = N` in a form that SQLite does not treat as equal to it. So SQLite uses such an
    /// index only for a list with this condition, and never sorts a million rows for it. An index contains
    /// the rows of one table only.
    static func scope(_ tableID: Int64) -> String { "+table_id = \(tableID)" }

    /// The statement that creates the index.
    func making(of table: TableRecord) -> String {
        let keys = SQLCompiler(ItemSQLSchema(hasIntegerIDs: table.idKind == .integer))
            .indexKeys(shape)
        return "CREATE INDEX \(Self.name(id)) ON items(\(keys)) WHERE \(Self.scope(table.id))"
    }

    /// `tables.indexes`, as ``list(_:)`` reads it.
    static func text(_ indexes: [TableIndex]) -> String {
        JSONList.text(indexes.map { ["\($0.id)", $0.shape.text] })
    }

    /// Reads `tables.indexes`.
    static func list(_ text: String) -> [TableIndex] {
        JSONList.lists(text).compactMap { parts in
            guard parts.count == 2, let id = Int64(parts[0]), let shape = IndexShape(parts[1])
            else { return nil }
            return TableIndex(id: id, shape: shape)
        }
    }
}

extension Store {
    /// Builds the indexes that the settings of tables name and that are not built, each in a transaction of its
    /// own. Returns before they are built. Writers wait for a build, readers do not. One that has failed is tried
    /// again after a change of the settings or a restart.
    func buildIndexes() async throws(StoreError) {
        let failed = indexProblems.withLock { $0 }
        for id in try await read({ try TableIndexes($0).missing() }) where failed[id] == nil {
            writer.write(inBudget: true) { transaction in
                try TableIndexes(transaction).build(id)
                let isRoomLeft = try self.writer.budget?.hasFreePart(
                    of: StoreLimits.budgetsFreeBesideIndexes, transaction.db)
                guard isRoomLeft ?? true else { throw StorageError.full }
            } completion: { result in
                self.indexProblems.withLock { $0[id] = self.problem(result) }
            }
        }
    }

    /// Why an index was not built; nil if it was.
    private func problem(_ result: Result<Void, StorageError>) -> String? {
        switch result {
        case .success: nil
        case .failure(.full), .failure(.overBudget):
            writer.budget == nil
                ? "there is no room for it on the disk. Free space, then restart Understudy."
                : "the store has no room for it. Raise --disk-budget."
        case .failure(let error): StoreError(error).description
        }
    }
}
