import Synchronization
public import TablesProtocol

/// What a pull is asked for.
struct PullRequest: Sendable, Hashable {
    var table: TableName
    /// Which rows; the whole table unless narrowed.
    var query = PullQuery()
    /// The developer's name for the query. Without one a filtered pull keeps no token.
    var queryID: String?
    /// Remove clean local items that the backend no longer has, or that left the query.
    var reconcile = false

    /// Whether all rows are asked for.
    var isWhole: Bool { query.key.isEmpty }

    /// Whether the pull keeps a token, so that the next of its kind goes on where it ended.
    var keepsToken: Bool { isWhole || queryID != nil }

    /// Names the filter in the token's key, so that another filter begins anew (FNV-1a).
    var filterHash: String {
        guard !isWhole else { return "" }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in query.key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

/// Which rows of a table a pull asks for: all, or those of a developer's query.
public struct PullQuery: Sendable, Hashable {
    /// The condition; nil for all rows.
    let filter: Expression?
    /// Pairs of the developer's own, sent on as they came.
    let parameters: [String]
    /// Tells queries apart, however they are spelled; empty for the whole table.
    let key: String

    /// All rows.
    public init() {
        filter = nil
        parameters = []
        key = ""
    }

    /// Reads a query string such as `$filter=complete eq false&list=7`, or the condition alone.
    ///
    /// A pull asks for whole rows, for the deleted ones too, in the order of their changes and page
    /// by page, so that it may be asked for nothing else: the SDKs refuse the same options.
    ///
    /// - Throws: ``ODataError`` for a filter that cannot be read, and for `$select`, `$orderby`,
    ///   `$top`, `$skip`, `$inlinecount`, `__includeDeleted` and other options of the protocol.
    public init(parsing text: String) throws(ODataError) {
        guard Self.isQueryString(text) else {
            try self.init(condition: text, parameters: [])
            return
        }
        var condition = ""
        var parameters: [String] = []
        for pair in try QueryParameter.split(text[...]) {
            if pair.name == "$filter" {
                condition = pair.value
            } else if pair.name.hasPrefix("$") || pair.name.hasPrefix("__") {
                throw ODataError(
                    option: pair.name,
                    reason: "A pull takes whole rows in the order of their changes; of the options "
                        + "it knows $filter alone", position: 0)
            } else {
                parameters.append(pair.raw)
            }
        }
        try self.init(condition: condition, parameters: parameters)
    }

    private init(condition: String, parameters: [String]) throws(ODataError) {
        let isBlank = condition.allSatisfy(\.isWhitespace)
        filter =
            isBlank ? nil : try Expression(parsing: condition, generation: .mobileApps)
        self.parameters = parameters
        let text = try filter?.text(dialect: .v3, names: .mobileApps) ?? ""
        key = ([text] + parameters).joined(separator: "&")
    }

    /// Whether a text begins with a pair's name rather than with a condition.
    private static func isQueryString(_ text: String) -> Bool {
        guard let equals = text.firstIndex(of: "=") else { return false }
        return text[..<equals].allSatisfy { character in
            character.isLetter || character.isNumber || "$_-.%".contains(character)
        }
    }
}

/// Tables that clients have read and that were never pulled: the next sync pulls them. In memory, so
/// that reading a name leaves nothing behind.
final class WantedTables: Sendable {
    private let names = Mutex<[TableName]>([])

    /// Adds a table; beyond the bound the names are taken for noise.
    func add(_ table: TableName) {
        names.withLock { names in
            guard !names.contains(table), names.count < SyncLimits.wantedTables else { return }
            names.append(table)
        }
    }

    /// Lets go of a table of which the backend has said whether it is there.
    func remove(_ table: TableName) { names.withLock { $0.removeAll { $0 == table } } }

    var all: [TableName] { names.withLock { $0 } }
}

extension Store {
    /// Notes that a client has read a table that is not here: the next sync asks for it.
    public func want(_ table: TableName) { wanted.add(table) }

    /// The tables that clients have read, and of which the backend has not said yet that they are there.
    public var wantedTables: [TableName] { wanted.all }
}
