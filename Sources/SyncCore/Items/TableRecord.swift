import Storage
import TablesProtocol

/// A table's settings, its pull state, and the spelling of its columns.
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
    /// See ``TableStatus/unconditionalPolicy``.
    var unconditionalPolicy: ConflictPolicy
    var isPublic: Bool
    var paging: Paging
    /// Whether the backend's rows came in another order than that of `updatedAt`, so that pulls remove nothing.
    var isUnsorted: Bool
    var spellings: ColumnSpellings
    var lastPullAt: Instant?
    /// A warning of the last pull about the backend's paging or its clocks.
    var warning: String?
    /// See ``TableStatus/pullError``.
    var pullError: String?
    var pullsFailSince: Instant?
    /// The most rows that the backend gives in one page; nil if it gave the requested number. Decides how many
    /// rows a client gets.
    var pageRows: Int?
    /// The size of the largest page received.
    var largestPageRows: Int?
    /// What ``RequestedRows`` keeps from pull to pull.
    var acceptedRows: Int?
    var largerPagesAfter: Int
    /// The columns that refer to items of other tables.
    var parents: [ParentLink]
    /// Whether an update that is due is sent before the delete that follows it.
    var preservesHistory: Bool
    /// Whether the rows that were read last had no version.
    var lacksVersions: Bool
    /// Written by ``TableRecords/learn(_:of:)`` alone.
    var deletion: Deletion
    /// The built indexes.
    var indexes: [TableIndex]
    /// The part that is copied; nil for the whole table.
    var part: TablePart?
    /// The backend's generation when it gave the part; nil before.
    var partGeneration: Generation?
    /// Whether items may be here that the copy has no longer, so that the next pull takes all of its rows and
    /// compares.
    var mustCompare: Bool

    /// Whether the store has every row of the table.
    var isWholeHere: Bool { isComplete && part == nil }

    /// What the backend does with a row that is deleted, as far as an answer has shown it.
    enum Deletion: String, Sendable, Hashable {
        case unknown
        /// It keeps the row and marks it as deleted.
        case soft
        /// It has no such row any more.
        case hard
    }

    /// The columns in the order in which ``init(_:)`` reads them.
    static let select = """
        SELECT id, name, id_kind, is_complete, read_policy, write_policy, conflict_policy,
          unconditional_policy, is_public, paging, column_spellings, last_pull_at, warning,
          parents, preserves_history, indexes, pull_error, pulls_fail_since, page_rows, largest_page_rows,
          is_unsorted, deletion, lacks_versions, accepted_rows, larger_pages_after,
          part, must_compare, part_generation FROM tables
        """
    static let byName = "\(select) WHERE name_key = ?"
    static let byID = "\(select) WHERE id = ?"

    init?(_ row: StatementRow) {
        guard let name = TableName(row[1] as String) else { return nil }
        id = row[0]
        self.name = name
        idKind = IDKind(rawValue: row[2]) ?? .string
        isComplete = row[3]
        readPolicy = ReadPolicy(rawValue: row[4]) ?? .local
        writePolicy = WritePolicy(rawValue: row[5]) ?? .local
        conflictPolicy = ConflictPolicy(rawValue: row[6]) ?? .ask
        unconditionalPolicy = ConflictPolicy(rawValue: row[7]) ?? .ask
        isPublic = row[8]
        paging = Paging(rawValue: row[9]) ?? .keyset
        spellings = ColumnSpellings(text: row[10])
        lastPullAt = (row[11] as Int64?).map { Instant(milliseconds: $0) }
        warning = row[12]
        parents = JSONList.names(row[13]).compactMap(ParentLink.init(_:))
        preservesHistory = row[14]
        indexes = TableIndex.list(row[15])
        pullError = row[16]
        pullsFailSince = (row[17] as Int64?).map { Instant(milliseconds: $0) }
        pageRows = (row[18] as Int64?).map { Int($0) }
        largestPageRows = (row[19] as Int64?).map { Int($0) }
        isUnsorted = row[20]
        deletion = Deletion(rawValue: row[21]) ?? .unknown
        lacksVersions = row[22]
        acceptedRows = (row[23] as Int64?).map { Int($0) }
        largerPagesAfter = Int(row[24] as Int64)
        part = TablePart(stored: row[25])
        mustCompare = row[26]
        partGeneration = (row[27] as Int64?).flatMap { Generation(rawValue: Int($0)) }
    }
}
