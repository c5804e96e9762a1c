import GRDB
import TablesProtocol

/// A table's settings, and the spelling of its columns.
struct TableRecord: Sendable, Hashable {
    var id: Int64
    /// As first spelled.
    var name: TableName
    var idKind: IDKind
    /// Whether a pull has completed once.
    var isComplete: Bool
    var readPolicy: ReadPolicy
    var writePolicy: WritePolicy
    var conflictPolicy: ConflictPolicy
    /// For writes without If-Match: `ask` or `client`.
    var unconditionalPolicy: ConflictPolicy
    var isPublic: Bool
    var paging: Paging
    var spellings: ColumnSpellings
    var lastPullAt: Instant?
    var warning: String?

    init?(_ row: Row) {
        guard let name = TableName(row["name"] as String) else { return nil }
        id = row["id"]
        self.name = name
        idKind = IDKind(rawValue: row["id_kind"]) ?? .string
        isComplete = row["is_complete"]
        readPolicy = ReadPolicy(rawValue: row["read_policy"]) ?? .local
        writePolicy = WritePolicy(rawValue: row["write_policy"]) ?? .local
        conflictPolicy = ConflictPolicy(rawValue: row["conflict_policy"]) ?? .ask
        unconditionalPolicy = ConflictPolicy(rawValue: row["unconditional_policy"]) ?? .ask
        isPublic = row["is_public"]
        paging = Paging(rawValue: row["paging"]) ?? .keyset
        spellings = ColumnSpellings(text: row["column_spellings"])
        lastPullAt = (row["last_pull_at"] as Int64?).map { Instant(milliseconds: $0) }
        warning = row["warning"]
    }
}
