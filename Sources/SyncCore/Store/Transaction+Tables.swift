import Storage
import TablesProtocol

extension Transaction {
    /// A table by its name, whatever its case.
    func table(_ name: TableName) throws -> TableRecord? {
        try known({ $0.remembered(name) }) {
            try first(TableRecord.byName, [name.key], TableRecord.init)
        }
    }

    /// A table by its number.
    func table(id: Int64) throws -> TableRecord? {
        try known({ $0.remembered(id: id) }) {
            try first(TableRecord.byID, [id], TableRecord.init)
        }
    }

    /// A table from memory, unless this transaction has changed one, else as `load` finds it.
    private func known(
        _ remembered: (TableCatalog) -> TableRecord?, _ load: () throws -> TableRecord?
    ) throws -> TableRecord? {
        guard let tablesInMemory, !effects.changedTables else { return try load() }
        if let known = remembered(tablesInMemory) { return known }
        let loaded = try load()
        if let loaded { tablesInMemory.remember(loaded) }
        return loaded
    }

    /// All tables, by name.
    func tables() throws -> [TableRecord] {
        try all("\(TableRecord.select) ORDER BY name_key", [], TableRecord.init)
    }

    /// The table of that name, made when there is none.
    func makeTable(_ name: TableName, idKind: IDKind = .string) throws -> TableRecord {
        if let table = try table(name) { return table }
        try run(
            "INSERT INTO tables(name, name_key, id_kind) VALUES (?, ?, ?)",
            [name.text, name.key, idKind.rawValue])
        effects.changedTables = true
        guard let table = try table(name) else { throw StoreError.failed("No table was made.") }
        return table
    }

    /// Writes a table's settings; its column names are left as they are.
    func save(_ table: TableRecord) throws {
        try run(
            """
            UPDATE tables SET id_kind = ?, is_complete = ?, read_policy = ?, write_policy = ?,
              conflict_policy = ?, unconditional_policy = ?, is_public = ?, paging = ?,
              last_pull_at = ?, warning = ?, parents = ?, preserves_history = ?, pull_error = ?,
              pulls_fail_since = ?, page_rows = ?, largest_page_rows = ? WHERE id = ?
            """,
            [
                table.idKind.rawValue, table.isComplete, table.readPolicy.rawValue,
                table.writePolicy.rawValue, table.conflictPolicy.rawValue,
                table.unconditionalPolicy.rawValue, table.isPublic, table.paging.rawValue,
                table.lastPullAt?.milliseconds, table.warning,
                JSONList.text(table.parents.map(\.description)), table.preservesHistory,
                table.pullError, table.pullsFailSince?.milliseconds, table.pageRows,
                table.largestPageRows, table.id,
            ])
        effects.changedTables = true
    }

    /// Gives columns the names that the table keeps; new names are kept from now on.
    /// - Parameter shared: whether every row has the columns; see ``RemoteRow/sharesColumns``.
    func respell(
        _ columns: Columns, in table: TableRecord, shared: Bool = false
    ) throws -> Columns {
        if table.spellings.knows(columns.all, shared: shared) { return columns }
        return try learn(of: table) { $0.respell(columns, shared: shared) }
    }

    /// Forgets which columns every row of the table has.
    func forgetSharedColumns(of table: TableRecord) throws {
        try learn(of: table) { $0.forgetShared() }
    }

    private func learn<Value>(
        of table: TableRecord, _ change: (inout ColumnSpellings) -> Value
    ) throws -> Value {
        // The record may be older than this transaction; the table itself is not.
        let text: String? = try first(
            "SELECT column_spellings FROM tables WHERE id = ?", [table.id]
        ) { $0[0] }
        let known = ColumnSpellings(text: text ?? "{}")
        var learned = known
        let value = change(&learned)
        if learned != known {
            try run(
                "UPDATE tables SET column_spellings = ? WHERE id = ?", [learned.text, table.id])
            effects.changedTables = true
        }
        return value
    }

    /// The table's next stamp: now, and later than every stamp before.
    func nextStamp(_ tableID: Int64) throws -> Int64 {
        let stored = "SELECT last_stamp FROM table_counters WHERE table_id = ?"
        guard let last = try setAside.lastStamps[tableID] ?? integer(stored, [tableID]) else {
            throw StoreError.failed("A table has no counters.")
        }
        let stamp = max(now.milliseconds, last + 1)
        setAside.lastStamps[tableID] = stamp
        return stamp
    }

    /// A provisional id for an item of an integer table: negative, never used twice.
    func nextProvisionalID(_ tableID: Int64) throws -> ItemID {
        let next = try integer(
            """
            UPDATE table_counters SET next_provisional_id = next_provisional_id - 1
            WHERE table_id = ? RETURNING next_provisional_id + 1
            """, [tableID])
        guard let next else { throw StoreError.failed("A table has no counters.") }
        return ItemID(next)
    }
}
