import GRDB
import TablesProtocol

/// A table as the backend stores it: its options and what was learnt from writes.
struct TableRecord: Sendable {
    /// The key in the database.
    var key: Int64
    /// Its name as first spelled.
    var name: TableName
    /// What it is like.
    var options: TableOptions
    /// The last `updatedAt` given, in ticks.
    var lastStamp: Int64
    /// The last integer id given.
    var lastNumber: Int64
    /// The columns seen in writes, after the declared ones, in order.
    var seenColumns: [TableOptions.Column]

    /// Whether rows have an id and the user's columns only: integer-id tables of the first generation.
    func isPlain(_ generation: Generation) -> Bool {
        options.idKind == .integer && generation == .mobileServices
    }

    /// All columns known.
    var knownColumns: [TableOptions.Column] { options.columns + seenColumns }
}

/// The tables of the database.
enum Tables {
    /// The table with this name in any case; nil when there is none.
    static func find(_ database: Database, _ name: TableName) throws -> TableRecord? {
        try GRDB.Row.fetchOne(
            database, sql: "SELECT * FROM tables WHERE name = ?", arguments: [name.text]
        ).map { record($0, name) }
    }

    /// Makes a table; one that exists takes the options.
    @discardableResult
    static func create(
        _ database: Database, _ name: TableName, _ options: TableOptions
    ) throws -> TableRecord? {
        try database.execute(
            sql: """
                INSERT INTO tables (name, soft_delete, id_kind, needs_sign_in, declared_columns)
                VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET soft_delete = excluded.soft_delete,
                  id_kind = excluded.id_kind, needs_sign_in = excluded.needs_sign_in,
                  declared_columns = excluded.declared_columns
                """,
            arguments: [
                name.text, options.softDelete, options.idKind.rawValue, options.needsSignIn,
                text(options.columns),
            ])
        return try find(database, name)
    }

    /// Keeps what a write changed in a table.
    static func save(_ database: Database, _ table: TableRecord) throws {
        try database.execute(
            sql: """
                UPDATE tables SET last_stamp = ?, last_number = ?, seen_columns = ? WHERE key = ?
                """,
            arguments: [table.lastStamp, table.lastNumber, text(table.seenColumns), table.key])
    }

    private static func record(_ row: GRDB.Row, _ name: TableName) -> TableRecord {
        TableRecord(
            key: row["key"], name: TableName(row["name"] as String) ?? name,
            options: TableOptions(
                softDelete: row["soft_delete"],
                idKind: IDKind(rawValue: row["id_kind"]) ?? .string,
                needsSignIn: row["needs_sign_in"], columns: columns(row["declared_columns"])),
            lastStamp: row["last_stamp"], lastNumber: row["last_number"],
            seenColumns: columns(row["seen_columns"]))
    }

    /// `[["text","string"]]`.
    private static func text(_ columns: [TableOptions.Column]) -> String {
        JSONValue.array(
            columns.map { .array([.string($0.name), .string($0.type.rawValue)]) }
        ).text
    }

    private static func columns(_ text: String) -> [TableOptions.Column] {
        let pairs = (try? JSONValue(parsing: text))?.array ?? []
        return pairs.compactMap { pair in
            guard let parts = pair.array, parts.count == 2, let name = parts[0].string,
                let type = parts[1].string.flatMap(TableOptions.ColumnType.init(rawValue:))
            else { return nil }
            return TableOptions.Column(name, type)
        }
    }
}
