import Storage
public import Synchronization
public import TablesProtocol

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
    var pause: TablePause
    /// Whether the rows that were read last had no version.
    var lacksVersions: Bool
    /// Written by ``TableRecords/learn(_:of:)`` alone.
    var deletion: Deletion
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
          part, must_compare, part_generation, pause FROM tables
        """
    static let byName = "\(select) WHERE name_key = ?"
    static let byID = "\(select) WHERE id = ?"

    init?(_ row: StatementRow) {
        guard let name = TableName(row[1] as String) else { return nil }
        id = row[0]
        self.name = name
        idKind = IDKind(rawValue: row[2]) ?? .string
        isComplete = row[3]
        readPolicy = ReadPolicy(rawValue: row[4]) ?? .standard
        writePolicy = WritePolicy(rawValue: row[5]) ?? .standard
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
        pause = TablePause(rawValue: row[28]) ?? .nothing
    }
}

/// The settings of a table that decide how a request is answered.
///
/// A class, so that a request carries one reference instead of the whole record.
public final class TableSettings: Sendable {
    let record: TableRecord
    /// The uptime in milliseconds of the last read that was told (``isDue(at:)``). Each reader has its own.
    private let toldRead = Atomic<Int64>(.min)

    init(_ record: TableRecord) { self.record = record }

    /// Whether a read is one of the few that the engine is told of: the first in ``SyncLimits/readGapSeconds``.
    /// It costs a read of memory that the other readers do not write.
    /// - Parameter now: the uptime.
    public func isDue(at now: Duration) -> Bool {
        let (now, last) = (now.wholeMilliseconds, toldRead.load(ordering: .relaxed))
        guard last == .min || now - last >= SyncLimits.readGapSeconds * 1000 else { return false }
        toldRead.store(now, ordering: .relaxed)
        return true
    }

    /// The kind of the ids.
    public var idKind: IDKind { record.idKind }
    /// Whether a pull has completed once.
    public var isComplete: Bool { record.isComplete }
    /// Whether only a part of its rows is copied (``TablePart``).
    public var isInPart: Bool { record.part != nil }
    public var lastPull: Instant? { record.lastPullAt }
    /// Whether all identities share the anonymous store's table.
    public var isPublic: Bool { record.isPublic }
    public var pause: TablePause { record.pause }
    /// The columns that every row on the backend has, null where nothing was written.
    public var columns: TableColumns { record.spellings.columns }
    public var columnNames: [String] { record.spellings.names }
}

/// A table as a request found it in the store. It is looked up once and carried along; after a wait it is
/// looked up again, because it may have changed.
public struct FoundTable: Sendable {
    /// The name in the caller's spelling.
    public let name: TableName
    let place: Place
    /// The number of the caller's reader.
    let worker: Int
    /// The policies of tables for which none was chosen.
    let standard: StandardPolicies

    enum Place: Sendable {
        case table(TableSettings)
        case view(SDKView)
        case unknown
        case failed(StoreError)
    }

    /// Its settings; nil where the store has no such table.
    public var settings: TableSettings? {
        if case .table(let settings) = place { settings } else { nil }
    }

    /// How its reads are answered, also where the store has no such table.
    public var readPolicy: ReadPolicy {
        (settings?.record.readPolicy ?? .standard).resolved(by: standard)
    }

    /// When writes to it are answered, also where the store has no such table.
    public var writePolicy: WritePolicy {
        (settings?.record.writePolicy ?? .standard).resolved(by: standard)
    }
}

/// How reads of a table are answered.
public enum ReadPolicy: String, Codable, Sendable, Hashable, CaseIterable {
    /// As the settings say (``SyncSettings/standardPolicies``), since no policy was chosen.
    case standard
    /// From the store.
    case local
    /// From the store, which is refreshed afterwards.
    case revalidate
    /// From the store after a pull; without the pull if the backend cannot be reached or is too slow.
    case remoteFirst = "remote-first"

    /// The policy that holds, which is never ``standard``.
    public func resolved(by standard: StandardPolicies) -> ReadPolicy {
        self == .standard ? standard.read : self
    }
}

/// When writes to a table are answered.
public enum WritePolicy: String, Codable, Sendable, Hashable, CaseIterable {
    /// As the settings say, since no policy was chosen.
    case standard
    /// When the write is on disk.
    case local
    /// When the backend has judged the write, or after a bounded wait.
    case writeThrough = "write-through"

    /// The policy that holds, which is never ``standard``.
    public func resolved(by standard: StandardPolicies) -> WritePolicy {
        self == .standard ? standard.write : self
    }
}

/// The policies of tables for which none was chosen. Without a member both are `local`.
public struct StandardPolicies: OptionSet, AtomicRepresentable, Sendable, Hashable {
    public let rawValue: UInt8
    static let revalidate = StandardPolicies(rawValue: 1)
    static let remoteFirst = StandardPolicies(rawValue: 2)
    static let writeThrough = StandardPolicies(rawValue: 4)

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ read: ReadPolicy, _ write: WritePolicy) {
        self = write == .writeThrough ? .writeThrough : []
        switch read {
        case .standard, .local: break
        case .revalidate: insert(.revalidate)
        case .remoteFirst: insert(.remoteFirst)
        }
    }

    public var read: ReadPolicy {
        contains(.remoteFirst) ? .remoteFirst : contains(.revalidate) ? .revalidate : .local
    }

    public var write: WritePolicy { contains(.writeThrough) ? .writeThrough : .local }
}

/// What a person has paused of one table, until a person resumes it. Clients read and write as before.
public enum TablePause: String, Codable, Sendable, Hashable, CaseIterable {
    case nothing
    /// Its changes are not sent.
    case pushes
    /// The backend's changes are not fetched.
    case pulls
    /// Neither is done.
    case all

    /// Whether its changes stay in the queue.
    public var stopsPushes: Bool { self == .pushes || self == .all }
    public var stopsPulls: Bool { self == .pulls || self == .all }

    /// What a person is told of the table; nil if nothing is paused.
    var sentence: String? {
        switch self {
        case .nothing: nil
        case .pushes: "A person has paused it: its changes are not sent."
        case .pulls: "A person has paused it: what others change is not fetched."
        case .all: "A person has paused it: nothing is sent or fetched."
        }
    }

    /// What a person is told of a change that waits.
    static func reasonOfPush(_ table: TableName) -> String {
        "A person has paused the table \(table)."
    }

    /// What a person is told who asks for a pull.
    static func reasonOfPull(_ table: TableName) -> String {
        "A person has paused the pulls of table \(table): resume it first."
    }
}

/// A column that names items of another table.
public struct ParentLink: Codable, Sendable, Hashable, CustomStringConvertible {
    /// The table of the items that are named.
    public var table: TableName
    /// The column that names one.
    public var column: String

    public init(table: TableName, column: String) {
        self.table = table
        self.column = column
    }

    /// Reads `table.column`; nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let table = TableName(parts[0]), !parts[1].isEmpty else {
            return nil
        }
        self.init(table: table, column: String(parts[1]))
    }

    /// `table.column`.
    public var description: String { "\(table.text).\(column)" }
}

/// The part of a table that is copied: the rows that a filter gives, as in
/// `--table 'todoitem?$filter=complete eq false'`.
///
/// The backend decides by its own rules which rows these are. Lists within the part are answered from the
/// store. The backend answers all others.
public struct TablePart: Sendable, Hashable {
    /// The query string as it was written.
    public let text: String
    /// The rows, as a pull requests them.
    let query: PullQuery
    private let conditions: Set<Expression>
    /// The same for clients of the third generation, if the backend is an earlier one, for which null fits
    /// less (``NullComparison``); nil if there are none.
    private let strictConditions: Set<Expression>?

    /// Reads a query string with `$filter` or query pairs of the developer's own, or a condition alone.
    /// - Throws: ``ODataError`` for what no pull can request, for a query of all rows, and for a filter by
    ///   the store's own times and versions.
    public init(parsing text: String) throws(ODataError) {
        let query = try PullQuery(parsing: text)
        guard !query.key.isEmpty else { throw Self.refusal("It gives all rows") }
        let own: [SystemProperty] = [.updatedAt, .version, .deleted]
        if let property = own.first(where: {
            query.filter?.columns.contains(.system($0)) == true
        }) {
            throw Self.refusal(
                "A part is named by other columns than \(property.name(in: .mobileApps) ?? "")")
        }
        self.text = text
        self.query = query
        conditions = query.filter?.conjuncts ?? []
        let strict = TableQuery(filter: query.filter).translated(for: .datasync)
        strictConditions = strict.map { $0.filter?.conjuncts ?? [] }
    }

    /// Reads what the store keeps; nil for a table that is copied as a whole.
    init?(stored text: String?) {
        guard let text else { return nil }
        try? self.init(parsing: text)
    }

    private static func refusal(_ reason: String) -> ODataError {
        ODataError(option: "$filter", reason: reason, position: 0)
    }

    /// A client's list as it is asked of the store, if all its rows are within the part; else nil.
    ///
    /// A list of a client that syncs also shows the tombstones of rows that left the part, although their
    /// columns may not fit the filter any more.
    /// - Parameter generation: the backend's when it gave the rows; nil if that is not known.
    func asked(_ list: TableQuery, from generation: Generation?) -> TableQuery? {
        let isLoose = list.nulls == .unknown || generation == .datasync
        // A script may leave rows out by the part's own pairs, which such a list does not have.
        guard query.parameters.isEmpty, let needed = isLoose ? conditions : strictConditions,
            let filter = list.filter
        else { return nil }
        let given: [Expression] = if case .logical(.and, let all) = filter { all } else { [filter] }
        guard needed.isSubset(of: filter.conjuncts) else { return nil }
        guard list.includeDeleted else { return list }
        let isDeleted = Expression.binary(
            .equal, .column(.system(.deleted)), .literal(.boolean(true)))
        let (own, others) = (
            given.filter { $0.conjuncts.isSubset(of: needed) },
            given.filter { !$0.conjuncts.isSubset(of: needed) }
        )
        var asked = list
        let fits = Expression.joined(.and, own).flatMap { Expression.joined(.or, [$0, isDeleted]) }
        asked.filter = Expression.joined(.and, others + [fits].compactMap(\.self))
        return asked
    }
}
