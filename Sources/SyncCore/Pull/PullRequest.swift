import HTTPMessage
import Synchronization
public import TablesProtocol

struct PullRequest: Sendable, Hashable {
    var table: TableName
    /// The rows to pull; the whole table by default.
    var query = PullQuery()
    /// The developer's name for the query. A filtered pull without it keeps no token.
    var queryID: String?
    /// Whether to remove unchanged local items that the backend no longer has, or that left the query.
    var reconcile = false
    /// What becomes of rows that are newer here than at the backend.
    var older = OlderRows.lag
    /// Whether the table's copy is checked against the backend, and pulled only if it differs.
    var checksCopy = false
    /// For a pull of a table that is copied in part (``TablePart``): the rows of the part.
    var part: PullQuery?

    /// The pairs of a client's own whose list is followed; nil for a pull of rows. Which rows the list has is
    /// stored. Of the rows themselves only those are stored that a pull without the pairs did not bring: a
    /// script may have computed columns of the others.
    private(set) var followed: OwnPairs?

    /// What becomes of rows that are newer here than at the backend.
    enum OlderRows: Sendable, Hashable {
        /// The backend's copy may lag behind: what a push has replaced is not taken. Other rows are.
        case lag
        /// The backend may have been restored from an older backup: a comparison does not take them, and ends with
        /// a failure.
        case areRefused
        /// A person wants the backend's rows whatever they are.
        case areTaken

        /// Reads a person's choice; nil if there is none.
        init(_ areRefused: Bool?) { self = areRefused.map { $0 ? .areRefused : .areTaken } ?? .lag }
    }

    /// A pull that follows a client's own pairs.
    static func following(_ pairs: OwnPairs, of table: TableName) -> PullRequest {
        var request = PullRequest(table: table, query: PullQuery(pairs))
        request.queryID = pairs.queryID
        request.followed = pairs
        return request
    }

    /// Whether the pull makes the table's copy: all rows, or those of its part.
    var isWhole: Bool { query.key.isEmpty }

    var wanted: PullQuery { part ?? query }

    /// Whether the pull keeps a token, so that the next one continues where this one ended.
    var keepsToken: Bool { isWhole || queryID != nil }

    /// The hash of the filter (FNV-1a) in the token's key: a changed filter starts from the beginning.
    var filterHash: String {
        guard !wanted.key.isEmpty else { return "" }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in wanted.key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

/// The query pairs of a client's own in a list, which only the backend understands: a table's script may leave
/// rows out by them.
public struct OwnPairs: Sendable, Hashable {
    /// The pairs as the client sent them.
    let raw: [String]
    /// The pairs decoded and ordered by name, so that neither their order nor their encoding counts.
    let key: String

    /// Takes a client's custom pairs. Header fields that stand in the query and `_`, with which browsers avoid
    /// caches, select no rows.
    /// - Returns: nil without a pair.
    public init?(_ parameters: [QueryParameter]) {
        let own = parameters.filter { $0.name != "_" && !$0.name.lowercased().hasPrefix("x-zumo-") }
        if own.isEmpty { return nil }
        raw = own.map(\.raw)
        let ordered = own.enumerated().sorted { left, right in
            let (first, second) = (Array(left.element.name.utf8), Array(right.element.name.utf8))
            if first == second { return left.offset < right.offset }
            return first.lexicographicallyPrecedes(second)
        }
        key = ordered.map { _, pair in
            "\(PercentCoding.encode(pair.name))=\(PercentCoding.encode(pair.value))"
        }.joined(separator: "&")
    }

    /// The query id of their pull token, which no developer's is.
    var queryID: String { "?" + key }
}

/// The rows that a pull requests: all rows of a table, or those of a developer's query.
public struct PullQuery: Sendable, Hashable {
    /// The condition; nil for all rows.
    let filter: Expression?
    /// The developer's own query pairs, sent unchanged.
    let parameters: [String]
    /// The query in a canonical form, to compare queries; empty for the whole table.
    let key: String

    public init() {
        filter = nil
        parameters = []
        key = ""
    }

    /// The rows that a client's own pairs select.
    init(_ pairs: OwnPairs) {
        filter = nil
        parameters = pairs.raw
        key = pairs.key
    }

    /// Reads a query string such as `$filter=complete eq false&list=7`, or the condition alone.
    ///
    /// A pull needs whole rows, deleted ones included, in the order of their changes and in pages. So other
    /// options are refused, as the SDKs do.
    ///
    /// - Throws: ``ODataError`` for a filter that cannot be read, and for `$select`, `$orderby`,
    ///   `$top`, `$skip`, `$inlinecount`, `__includeDeleted` and other options of the protocol.
    public init(parsing text: String) throws(ODataError) {
        guard Self.isQueryString(text) else {
            try self.init(condition: text, parameters: [])
            return
        }
        var condition: String?
        var parameters: [String] = []
        for pair in try QueryParameter.split(text[...]) {
            if pair.name == "$filter", condition == nil {
                condition = pair.value
            } else if pair.name.hasPrefix("$") || pair.name.hasPrefix("__") {
                throw ODataError(
                    option: pair.name,
                    reason: "A pull takes whole rows in the order of their changes; of the options "
                        + "it knows $filter alone, and once", position: 0)
            } else {
                parameters.append(pair.raw)
            }
        }
        try self.init(condition: condition ?? "", parameters: parameters)
    }

    private init(condition: String, parameters: [String]) throws(ODataError) {
        let isBlank = condition.allSatisfy(\.isWhitespace)
        filter =
            isBlank ? nil : try Expression(parsing: condition, generation: .mobileApps)
        self.parameters = parameters
        // A condition that this dialect cannot write is identified by its own text.
        let text =
            filter.map { (try? $0.text(dialect: .v3, names: .mobileApps)) ?? condition } ?? ""
        key = ([text] + parameters).joined(separator: "&")
    }

    /// Whether a text is a query string rather than a condition.
    private static func isQueryString(_ text: String) -> Bool {
        guard let equals = text.firstIndex(of: "=") else { return false }
        return text[..<equals].allSatisfy { character in
            character.isLetter || character.isNumber || "$_-.%".contains(character)
        }
    }
}

/// The tables that clients have read and that were never pulled. The next sync pulls them. Kept in memory,
/// so that a read leaves nothing in the store.
final class WantedTables: Sendable {
    private let names = Mutex<[TableName]>([])

    /// Adds a table, at most ``SyncLimits/wantedTables``.
    func add(_ table: TableName) {
        names.withLock { names in
            guard !names.contains(table), names.count < SyncLimits.wantedTables else { return }
            names.append(table)
        }
    }

    /// Removes a table once the backend has said whether it exists.
    func remove(_ table: TableName) { names.withLock { $0.removeAll { $0 == table } } }

    var all: [TableName] { names.withLock { $0 } }
}

extension Store {
    /// Records that a client has read a table that is not in the store. The next sync pulls it.
    public func want(_ table: TableName) { wanted.add(table) }

    /// The tables that clients have read and that the backend has not confirmed yet.
    public var wantedTables: [TableName] { wanted.all }
}
