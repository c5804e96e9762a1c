import Storage
import Synchronization
import TablesProtocol

/// The tables with their settings and column names: `tables`.
struct TableRecords {
    let transaction: Transaction

    private static let select = "SELECT \(TableRecord.stored.names) FROM tables"

    /// A table by its name, in any case.
    func table(_ name: TableName) throws -> TableRecord? {
        try known({ $0.remembered(name) }) {
            try transaction.first(
                "\(Self.select) WHERE name_key = ?", [name.key], TableRecord.init)
        }
    }

    func table(id: Int64) throws -> TableRecord? {
        try known({ $0.remembered(id: id) }) {
            try transaction.first("\(Self.select) WHERE id = ?", [id], TableRecord.init)
        }
    }

    /// A table from the cache, unless this transaction has changed a table; else from `load`.
    private func known(
        _ remembered: (TableCatalog) -> FoundTable?, _ load: () throws -> TableRecord?
    ) throws -> TableRecord? {
        guard let tablesInMemory = transaction.tablesInMemory, !transaction.effects.changedTables
        else { return try load() }
        if let known = remembered(tablesInMemory) { return known.record }
        let loaded = try load()
        if let loaded { tablesInMemory.remember(loaded) }
        return loaded
    }

    /// All tables, ordered by name.
    func all() throws -> [TableRecord] {
        try transaction.all("\(Self.select) ORDER BY name_key", [], TableRecord.init)
    }

    var areSomePublic: Bool {
        get throws {
            try transaction.integer("SELECT 1 FROM tables WHERE is_public LIMIT 1") != nil
        }
    }

    /// The table with a name, created if there is none.
    func make(_ name: TableName, idKind: IDKind = .string) throws -> TableRecord {
        if let table = try table(name) { return table }
        // The number of a removed table is not used again: a run or a reader may still hold its record.
        try transaction.run(
            """
            INSERT INTO tables(id, name, name_key, id_kind, part, read_policy, write_policy) SELECT 1 + max(
              coalesce((SELECT max(id) FROM tables), 0),
              coalesce((SELECT value FROM meta WHERE key = 'last_removed_table'), 0)), ?, ?, ?, ?,
              'standard', 'standard'
            """, [name.text, name.key, idKind.rawValue, transaction.parts?[name]?.text])
        transaction.effects.changedTables = true
        guard let table = try table(name) else { throw StoreError.failed("No table was made.") }
        try transaction.counters.beginBeyondRemoved(table.id)
        return table
    }

    /// Removes a table, and by the references to it every row of other tables that belongs to it.
    func remove(_ table: TableRecord) throws {
        try transaction.counters.keepGiven(ofRemoved: table.id)
        try transaction.tableWaits.remove(of: table.name)
        try transaction.run(
            """
            INSERT INTO meta VALUES ('last_removed_table', ?1)
            ON CONFLICT DO UPDATE SET value = max(value, ?1)
            """, [table.id])
        try transaction.run("DELETE FROM tables WHERE id = ?", [table.id])
        transaction.effects.changedTables = true
    }

    /// Stores a table's settings; its column names stay as they are.
    func save(_ table: TableRecord) throws {
        try transaction.update(table)
        transaction.effects.changedTables = true
    }

    /// Stores what the backend was seen to do with a deleted row. A row that it keeps outweighs one that it
    /// does not have: an old tombstone may have been removed.
    func learn(_ deletion: TableRecord.Deletion, of table: TableRecord) throws {
        guard table.deletion != deletion, table.deletion != .soft else { return }
        try transaction.run(
            "UPDATE tables SET deletion = ? WHERE id = ? AND deletion <> 'soft'",
            [deletion.rawValue, table.id])
        transaction.effects.changedTables = true
    }

    /// Stores whether a row that was read has no version.
    func learn(lacksVersions: Bool, of id: Int64) throws {
        guard var table = try table(id: id), table.lacksVersions != lacksVersions else { return }
        table.lacksVersions = lacksVersions
        try save(table)
    }

    /// Forgets what only the backend so far was seen to do.
    func forgetHabits(of table: TableRecord) throws {
        try forgetSharedColumns(of: table)
        try transaction.run(
            """
            UPDATE tables SET deletion = 'unknown', lacks_versions = 0, accepted_rows = NULL,
              larger_pages_after = 0
            WHERE id = ?
            """, [table.id])
        try transaction.run("DELETE FROM copy_checks WHERE table_id = ?", [table.id])
        transaction.effects.changedTables = true
    }

    /// The columns of a local write, in the table's spelling.
    enum WrittenColumns {
        case taken(Columns)
        /// The table would have too many names: one sentence.
        case refused(String)
    }

    /// Renames the columns of a local write to the table's spelling, and stores new names if the table has
    /// room for them. The backend's own rows are bounded by the backend.
    func respell(written columns: Columns, in table: TableRecord) throws -> WrittenColumns {
        let all = columns.all
        if table.spellings.knows(all, shared: false) { return .taken(columns) }
        guard try spellings(of: table).hasRoom(for: all) else {
            return .refused(
                "A table has at most \(StoreLimits.columnNames) names of columns, and with this item "
                    + "\(table.name) would have more. Send what has changing names as one column, for "
                    + "example as an object.")
        }
        return .taken(try learn(of: table) { $0.respell(columns, shared: false) })
    }

    /// The part of a table that is copied; nil for the whole table.
    func part(of name: TableName) throws -> TablePart? {
        try table(name).map(\.part) ?? transaction.parts?[name]
    }

    /// Sets which tables are copied in part, as the settings say. A table whose part is another one than before
    /// is pulled from its beginning: what the store has may be too little, or too much.
    func setParts(_ parts: [TableName: TablePart]) throws {
        for name in parts.keys { _ = try make(name) }
        for table in try all() {
            let part = parts[table.name]
            guard part != table.part else { continue }
            let isOther = part?.query.key != table.part?.query.key
            try transaction.run(
                """
                UPDATE tables SET part = ?1, is_complete = is_complete AND NOT ?2,
                  must_compare = must_compare OR ?2 WHERE id = ?3
                """, [part?.text, isOther, table.id])
            transaction.effects.changedTables = true
            if isOther { try transaction.tokens.remove(of: table, queryID: "") }
        }
    }

    /// Renames columns to the table's spelling, and stores new names.
    /// - Parameter shared: whether every row has the columns; see ``RemoteRow/sharesColumns``.
    func respell(
        _ columns: Columns, in table: TableRecord, shared: Bool = false
    ) throws -> Columns {
        if table.spellings.knows(columns.all, shared: shared) { return columns }
        return try learn(of: table) { $0.respell(columns, shared: shared) }
    }

    /// Stores that reads do not give these columns.
    func learn(hidden names: [String], of table: TableRecord) throws {
        if !names.isEmpty { try learn(of: table) { $0.hide(names) } }
    }

    private func forgetSharedColumns(of table: TableRecord) throws {
        try learn(of: table) { $0.forgetShared() }
    }

    private func learn<Value>(
        of table: TableRecord, _ change: (inout ColumnSpellings) -> Value
    ) throws -> Value {
        let known = try spellings(of: table)
        var learned = known
        let value = change(&learned)
        if learned != known {
            try transaction.run(
                "UPDATE tables SET column_spellings = ? WHERE id = ?", [learned.text, table.id])
            transaction.effects.changedTables = true
        }
        return value
    }

    /// The spellings as they are stored: the record may be older than this transaction.
    private func spellings(of table: TableRecord) throws -> ColumnSpellings {
        let text: String? = try transaction.first(
            "SELECT column_spellings FROM tables WHERE id = ?", [table.id]
        ) { $0[0] }
        return ColumnSpellings(text: text ?? "{}")
    }

    /// The server's side of a row of the backend, in the table's spelling and without what reads do not give. A
    /// deleted row shows that the table deletes softly.
    func side(_ remote: RemoteRow?, in table: TableRecord) throws -> ServerSide {
        var columns = try remote.map {
            try respell($0.columns, in: table, shared: $0.sharesColumns && !$0.answersWrite)
        }
        if let all = columns, remote?.answersWrite == true {
            columns = table.spellings.withoutHidden(all)
        }
        if remote?.isDeleted == true { try learn(.soft, of: table) }
        return ServerSide(remote, columns: columns)
    }

    /// Whether the table has existed on the backend: it was pulled, or an operation on it was applied.
    func existedBefore(_ table: TableRecord) throws -> Bool {
        if table.isComplete || table.lastPull != nil { return true }
        return try transaction.integer(
            "SELECT 1 FROM state_counts WHERE table_id = ? AND state = 'done'", [table.id]) != nil
    }
}

extension Store {
    /// The part of a table that is copied; nil for the whole table.
    func part(of name: TableName) async throws(StoreError) -> TablePart? {
        try await read { try $0.tables.part(of: name) }
    }
}

/// The tables that the readers, the writer and the engine remember.
struct TableCatalogs: Sendable {
    let readers: [TableCatalog]
    let engine = TableCatalog()
    /// For transactions on the writer's connection: the committed tables.
    let writer = TableCatalog()

    /// - Parameter readers: how many there are.
    init(readers: Int) { self.readers = (0..<readers).map { TableCatalog(reader: $0) } }

    /// Clears every catalog, after a commit that changed a table.
    func forget() {
        for catalog in readers + [engine, writer] { catalog.forget() }
    }
}

/// The tables that were looked up, as they are until a commit changes one. Each reader has its own, so that
/// two threads do not share cache lines.
final class TableCatalog: Sendable {
    private struct State {
        var epoch = 0
        var tables: [String: FoundTable] = [:]
        /// Whether a table was looked up since that was asked last.
        var isUsed = false
    }
    private let state = Mutex(State())
    private let reader: Int

    /// - Parameter reader: the number of the reader that it belongs to, if it is one's.
    init(reader: Int = 0) { self.reader = reader }

    /// A table that is remembered; nil if it is not, even if it exists.
    func remembered(_ name: TableName) -> FoundTable? {
        state.withLock { state in
            state.isUsed = true
            return state.tables[name.key]
        }
    }

    /// Whether a table was looked up since this was asked last.
    func takeUse() -> Bool {
        state.withLock { state in
            defer { state.isUsed = false }
            return state.isUsed
        }
    }

    /// A table that is remembered, by its number.
    func remembered(id: Int64) -> FoundTable? {
        state.withLock { state in state.tables.values.first { $0.record?.id == id } }
    }

    /// Remembers a committed table. Not to be called while another commit is possible.
    func remember(_ table: TableRecord) {
        state.withLock { $0.tables[table.name.key] = FoundTable(table, reader: reader) }
    }

    /// A table that is not remembered, from `load`. Missing tables are not remembered.
    func load(_ name: TableName, _ load: () throws -> TableRecord?) rethrows -> FoundTable? {
        let epoch = state.withLock { $0.epoch }
        guard let loaded = try load().map({ FoundTable($0, reader: reader) }) else { return nil }
        state.withLock { state in
            // A record that was loaded before a commit must not be remembered after it.
            if state.epoch == epoch { state.tables[name.key] = loaded }
        }
        return loaded
    }

    /// Forgets all tables, after a commit that changed one.
    func forget() {
        state.withLock { state in
            state.epoch += 1
            state.tables = [:]
        }
    }
}

/// The spelling of a table's column names: the first one that the store has seen, in a write or in a row of
/// the backend. SQL backends ignore case, so `Text` and `text` are one column. Names are compared byte for
/// byte, so `é` as one character and as `e` with an accent are two.
struct ColumnSpellings: Sendable, Hashable {
    /// The spellings by the names in lower case.
    private var byKey: [ExactName: ExactName] = [:]
    private var exact: Set<ExactName> = []
    /// The names that every row of the backend has, null where nothing was written.
    private var shared: Set<ExactName> = []
    /// The names that a write had, and that a read of its row did not give.
    private var hidden: Set<ExactName> = []
    /// The columns that every row has, in the order of their names.
    private(set) var columns = TableColumns([])

    /// Whether a row has had a column of this name, in any case.
    func has(_ name: String) -> Bool { byKey[ExactName(lowercasing: name)] != nil }

    /// All names, in order.
    var names: [String] { exact.map(\.text).sorted() }

    /// Reads the text of ``text``.
    init(text: String) {
        for column in Columns(stored: text).all {
            var sharedName: String?
            var isHidden = false
            if case .array(let names) = column.value.value {
                (sharedName, isHidden) = (names.first?.string, names.count > 1)
            }
            guard let spelling = column.value.string ?? sharedName else { continue }
            let name = ExactName(spelling)
            byKey[ExactName(column.name)] = name
            exact.insert(name)
            if isHidden { hidden.insert(name) } else if sharedName != nil { shared.insert(name) }
        }
        columns = TableColumns(shared.sorted().map(\.text), known: exact.map(\.text))
    }

    /// A JSON object from lower-case name to spelling. The spelling is in an array if every row has the
    /// column, and in one with `false` if reads do not give it.
    var text: String {
        let members = byKey.sorted { $0.key < $1.key }.map { key, name in
            let text = JSONValue.string(name.text)
            let isHidden = hidden.contains(name)
            let value: JSONValue =
                isHidden
                ? .array([text, .bool(false)]) : shared.contains(name) ? .array([text]) : text
            return JSONValue.Member(key.text, value)
        }
        return JSONValue.object(members).text
    }

    /// The table's spelling of a name; the name itself if it is new.
    func spelling(of name: String) -> String {
        exact.contains(ExactName(name))
            ? name : byKey[ExactName(lowercasing: name)]?.text ?? name
    }

    /// Whether every name is known in exactly this spelling.
    /// - Parameter shared: whether every row has the columns, which must be known then too.
    func knows(_ columns: [Columns.Column], shared isShared: Bool) -> Bool {
        columns.allSatisfy { column in
            let name = ExactName(column.name)
            return exact.contains(name) && (!isShared || shared.contains(name))
        }
    }

    /// Whether the table may have the names that are new with these columns
    /// (``StoreLimits/columnNames``). Known names always have room.
    func hasRoom(for columns: [Columns.Column]) -> Bool {
        let keys = Set(columns.lazy.map { ExactName(lowercasing: $0.name) })
        let new = keys.count { byKey[$0] == nil }
        return new == 0 || byKey.count + new <= StoreLimits.columnNames
    }

    /// Renames columns to the table's spelling and adds new names. If a row of the backend has two
    /// spellings of one column, the later value stays; a client's body with two is refused before
    /// (``ItemBody``).
    mutating func respell(_ columns: Columns, shared isShared: Bool) -> Columns {
        let all = columns.all
        if knows(all, shared: isShared) { return columns }
        var kept: [Columns.Column] = []
        for column in all {
            let key = ExactName(lowercasing: column.name)
            let name = byKey[key] ?? ExactName(column.name)
            if byKey[key] == nil {
                byKey[key] = name
                exact.insert(name)
            }
            if isShared {
                shared.insert(name)
                hidden.remove(name)
            }
            kept.append(Columns.Column(name.text, column.value))
        }
        self.columns = TableColumns(shared.sorted().map(\.text), known: exact.map(\.text))
        return Columns(kept)
    }

    /// Records that reads do not give these columns.
    mutating func hide(_ names: [String]) {
        _ = respell(Columns(names.map { Columns.Column($0, .null) }), shared: false)
        hidden.formUnion(names.map { ExactName(spelling(of: $0)) })
        shared.subtract(hidden)
        columns = TableColumns(shared.sorted().map(\.text), known: exact.map(\.text))
    }

    /// Whether it is known of a column whether reads give it.
    func hasBeenRead(_ name: String) -> Bool {
        let name = ExactName(spelling(of: name))
        return shared.contains(name) || hidden.contains(name)
    }

    func withoutHidden(_ columns: Columns) -> Columns {
        if hidden.isEmpty { return columns }
        return Columns(columns.all.filter { !hidden.contains(ExactName(spelling(of: $0.name))) })
    }

    /// Forgets which columns reads give, because another backend may have others.
    mutating func forgetShared() {
        (shared, hidden) = ([], [])
        columns = TableColumns([], known: exact.map(\.text))
    }
}
