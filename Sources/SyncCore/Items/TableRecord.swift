import Storage
public import Synchronization
public import TablesProtocol

/// A table as the store keeps it: its settings, its pull state, and the spelling of its columns.
public struct TableRecord: Sendable, Hashable {
    var id: Int64 = 0
    /// As first spelled.
    public internal(set) var name = TableName.blank
    public var idKind = IDKind.string
    /// Whether a pull has completed once.
    public internal(set) var isComplete: Bool = false
    /// How reads are answered, as it was chosen.
    public var readPolicy = ReadPolicy.standard
    /// When writes are answered, as it was chosen.
    public var writePolicy = WritePolicy.standard
    public var conflictPolicy = ConflictPolicy.ask
    /// For conflicts of writes whose client sent no condition: `client` lets the local change win; `ask`
    /// leaves them to ``conflictPolicy``.
    public var unconditionalPolicy = ConflictPolicy.ask
    /// Whether all identities share the anonymous store's table.
    public var isPublic: Bool = false
    /// How pulls page through the backend's table.
    public var paging = Paging.keyset
    /// Whether the backend's rows came in another order than that of `updatedAt`, so that pulls remove nothing.
    var isUnsorted: Bool = false
    var spellings: ColumnSpellings = ColumnSpellings(text: "{}")
    public internal(set) var lastPull: Instant?
    /// A warning of the last pull about the backend's paging or its clocks.
    var warning: String?
    /// Why its pulls fail; nil if the last one succeeded. A pull that was cancelled, or that ended
    /// because the backend could not be used, does not count.
    public internal(set) var pullError: String?
    public internal(set) var pullsFailSince: Instant?
    /// The most rows that the backend gives in one page; nil if it gave the requested number. Decides how many
    /// rows a client gets.
    var pageRows: Int?
    /// The size of the largest page received.
    var largestPageRows: Int?
    /// What ``RequestedRows`` keeps from pull to pull.
    var acceptedRows: Int?
    var largerPagesAfter: Int = 0
    /// The columns that refer to items of other tables, which are inserted before and deleted after.
    public var parents: [ParentLink] = []
    /// Whether an update that is due is sent before the delete that follows it.
    public var preservesHistory: Bool = false
    public var pause = TablePause.nothing
    /// Whether the rows that were read last had no version.
    var lacksVersions: Bool = false
    /// Written by ``TableRecords/learn(_:of:)`` alone.
    var deletion = Deletion.unknown
    /// Those that are built.
    var indexes: [TableIndex] = []
    /// The part that is copied; nil for the whole table.
    public internal(set) var part: TablePart?
    /// The backend's generation when it gave the part; nil before.
    var partGeneration: Generation?
    /// Whether items may be here that the copy has no longer, so that the next pull takes all of its rows and
    /// compares.
    var mustCompare: Bool = false

    /// Whether the store has every row of the table.
    var isWholeHere: Bool { isComplete && part == nil }

    /// The columns that every row on the backend has, null where nothing was written.
    public var columns: TableColumns { spellings.columns }
    public var columnNames: [String] { spellings.names }

    /// What the backend does with a row that is deleted, as far as an answer has shown it.
    enum Deletion: String, Sendable, Hashable {
        case unknown
        /// It keeps the row and marks it as deleted.
        case soft
        /// It has no such row any more.
        case hard
    }
}

extension TableRecord: Stored {
    /// Those that ``TableRecords/save(_:)`` leaves as they are have statements of their own.
    static let stored = StoredColumns<TableRecord>(
        "tables", blank: TableRecord(),
        [
            .init("id", \.id, .assigned), .init("name", \.name, .fixed),
            .init("id_kind", \.idKind, unreadable: .string), .init("is_complete", \.isComplete),
            .init("read_policy", \.readPolicy, unreadable: .standard),
            .init("write_policy", \.writePolicy, unreadable: .standard),
            .init("conflict_policy", \.conflictPolicy, unreadable: .ask),
            .init("unconditional_policy", \.unconditionalPolicy, unreadable: .ask),
            .init("is_public", \.isPublic), .init("paging", \.paging, unreadable: .keyset),
            .init("is_unsorted", \.isUnsorted), .init("column_spellings", \.spellings, .fixed),
            .init("last_pull_at", \.lastPull), .init("warning", \.warning),
            .init("pull_error", \.pullError), .init("pulls_fail_since", \.pullsFailSince),
            .init("page_rows", \.pageRows), .init("largest_page_rows", \.largestPageRows),
            .init("accepted_rows", \.acceptedRows),
            .init("larger_pages_after", \.largerPagesAfter),
            .init("parents", get: { $0.parents.map(\.description) }) {
                $0.parents = $1.compactMap(ParentLink.init(_:))
            },
            .init("preserves_history", \.preservesHistory),
            .init("pause", \.pause, unreadable: .nothing),
            .init("lacks_versions", \.lacksVersions),
            .init("deletion", \.deletion, .fixed, unreadable: .unknown),
            .init("indexes", .fixed, get: { TableIndex.text($0.indexes) }) {
                $0.indexes = TableIndex.list($1)
            }, .init("part", \.part, .fixed),
            .init("part_generation", \.partGeneration), .init("must_compare", \.mustCompare),
        ])
}

extension ReadPolicy: ColumnValue {}
extension WritePolicy: ColumnValue {}
extension ConflictPolicy: ColumnValue {}
extension Paging: ColumnValue {}
extension TablePause: ColumnValue {}
extension TableRecord.Deletion: ColumnValue {}
extension TablePart: TextValue {}

extension ColumnSpellings: TextValue {
    init(stored text: String) { self.init(text: text) }
}

/// What a request found under the name of a table. It is looked up once and carried along; after a wait it is
/// looked up again, because it may have changed.
///
/// A class, so that a request carries one reference instead of the whole record.
public final class FoundTable: Sendable {
    /// The table; nil where the store has none of this name.
    public let record: TableRecord?
    /// What the name leads to where there is no table.
    let otherwise: Otherwise
    /// The number of the reader that found it.
    let reader: Int
    /// The uptime in milliseconds of the last read that was told (``isDue(at:)``). Each reader has its own.
    private let toldRead = Atomic<Int64>(.min)

    enum Otherwise: Sendable {
        case view(SDKView)
        case unknown
        case failed(StoreError)
    }

    init(_ record: TableRecord, reader: Int) {
        self.record = record
        self.reader = reader
        otherwise = .unknown
    }

    init(_ otherwise: Otherwise, reader: Int) {
        record = nil
        self.reader = reader
        self.otherwise = otherwise
    }

    /// Whether a read is one of the few that the engine is told of: the first in ``SyncLimits/readGapSeconds``.
    /// It costs a read of memory that the other readers do not write.
    /// - Parameter now: the uptime.
    public func isDue(at now: Duration) -> Bool {
        let (now, last) = (now.wholeMilliseconds, toldRead.load(ordering: .relaxed))
        guard last == .min || now - last >= SyncLimits.readGapSeconds * 1000 else { return false }
        toldRead.store(now, ordering: .relaxed)
        return true
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

    /// Reads what the store keeps.
    init?(stored text: String) { try? self.init(parsing: text) }

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
