public import TablesProtocol

/// Everything about a backend that a command line or a test chooses.
public struct BackendOptions: Sendable, Hashable {
    /// The answer to a list of a table that does not exist.
    public enum UnknownTable: String, Sendable, Hashable, CaseIterable {
        case empty, notFound
    }

    /// The rule for the next `updatedAt`.
    public enum Stamps: Sendable, Hashable {
        /// Milliseconds, strictly increasing in each table.
        case increasing
        /// The clock rounded down to this many milliseconds: rows tie.
        case ties(everyMilliseconds: Int)
        /// Seven fractional digits, strictly increasing by 100 ns: many rows within a millisecond.
        case subMillisecond
        /// The table has no `updatedAt` at all.
        case none
    }

    /// How a client pages through a list.
    public enum Lists: Sendable, Hashable {
        /// By `$orderby` and `$skip`.
        case sorted
        /// By the link of each page alone, which names the last row, in the order of ids. `$orderby`,
        /// `$skip` and counting are answered 400, as for a table in Azure Table Storage.
        case linked
    }

    /// The form of versions.
    public enum Versions: String, Sendable, Hashable, CaseIterable {
        /// Base64 of a decimal counter of each row.
        case counter
        /// Base64 of 16 random bytes.
        case random
    }

    /// The tokens that are accepted.
    public enum Tokens: Sendable, Hashable {
        case any
        case only(Set<String>)
        /// Those that a login with this backend handed out.
        case issued
        /// Those that ``TablesBackend/access`` verifies. Requests outside of the tables are then the
        /// administrator's.
        case verified

        /// Whether a token is accepted. Where tokens are verified, others were refused before.
        func accept(_ token: String, _ storage: any RowStorage) throws -> Bool {
            switch self {
            case .any, .verified: true
            case .only(let tokens): tokens.contains(token)
            case .issued: try storage.user(ofToken: token) != nil
            }
        }
    }

    /// The server whose answers it gives.
    public var flavour: BackendFlavour
    /// The tables that exist from the start, by name.
    public var tables: [TableName: TableOptions]
    /// The options of a table that a write creates; nil when writes create no tables.
    public var dynamicTable: TableOptions?
    /// The answer to a list of an unknown table.
    public var unknownTable: UnknownTable
    /// Whether `PUT` replaces items on a second generation backend.
    public var allowsPut: Bool
    /// The most rows in one answer; nil for the flavour's number.
    public var pageRows: Int?
    /// The highest `$top`; nil for what the flavour does.
    public var maxTop: Int?
    /// The rule for the next `updatedAt`.
    public var stamps: Stamps
    /// How a client pages through a list.
    public var lists: Lists
    /// The form of versions.
    public var versions: Versions
    /// The key that first generation clients must send; nil for none.
    public var applicationKey: String?
    /// The tokens in `X-ZUMO-AUTH` or `Authorization` that are accepted; others are answered 401.
    public var tokens: Tokens
    /// Whether `/-/faults` and `/-/effects` are served.
    public var servesFaults: Bool
    /// Whether `/-/livez`, `/-/readyz` and `/-/metrics` are served.
    public var servesHealth: Bool
    /// Whether the stream of changes is served (docs/PROTOCOL.md).
    public var servesChanges: Bool
    /// The most requests a second that are taken; others are answered 429. Nil takes all.
    public var requestsPerSecond: Int?
    /// What the requests from one address may be, by the address of the connection.
    public var ofAddress: ClientAllowance
    /// What the requests of one user may be, where tokens are verified.
    public var ofUser: ClientAllowance
    /// How long effects and tombstones are kept.
    public var kept: KeptTimes
    /// The beginning of `Link`, `nextLink` and `Location`; nil for the address that the request was sent
    /// to.
    public var publicAddress: PublicAddress?

    /// A backend whose tables come into being with the first write; the express flavour has only
    /// those that are put into ``tables``.
    public init(flavour: BackendFlavour = .mobileApps) {
        self.flavour = flavour
        tables = [:]
        dynamicTable = flavour == .express ? nil : TableOptions()
        unknownTable = flavour == .express ? .notFound : .empty
        allowsPut = false
        pageRows = nil
        maxTop = nil
        stamps = .increasing
        lists = .sorted
        versions = .counter
        applicationKey = nil
        tokens = .any
        servesFaults = false
        servesHealth = false
        servesChanges = false
        requestsPerSecond = nil
        ofAddress = ClientAllowance()
        ofUser = ClientAllowance()
        kept = KeptTimes()
        publicAddress = nil
    }

    /// The options of a table that exists or that a write would create; nil when neither.
    func table(_ name: TableName) -> TableOptions? { tables[name] ?? dynamicTable }
}

/// The options of one table of the backend.
public struct TableOptions: Sendable, Hashable {
    /// What the table's scripts set in each write before it is stored.
    public enum Script: String, Sendable, Hashable, CaseIterable {
        /// The column `owner` of a new row.
        case owner
        /// The column `changes`, which counts the writes of the row.
        case counter
        /// Texts lose the spaces around them.
        case trim
    }

    /// The type of a declared column.
    public enum ColumnType: String, Sendable, Hashable {
        case string, boolean, number
    }

    /// An operation on a table, as the Node server names it.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        case read, insert, update, delete, undelete
    }

    /// A column that exists before anything was written.
    public struct Column: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// The type of its values.
        public var type: ColumnType

        /// Declares a column.
        public init(_ name: String, _ type: ColumnType) {
            self.name = name
            self.type = type
        }
    }

    /// Whether a deletion leaves a row with `deleted: true` (soft) or nothing.
    public var softDelete: Bool
    /// Text ids, or integers that the backend assigns.
    public var idKind: IDKind
    /// Whether an integer id is given again when the row with it is gone and no row has a higher one, as SQLite
    /// does without AUTOINCREMENT.
    public var reusesIDs: Bool
    /// Whether a request without a token is answered 401. Each user who signed in with this backend
    /// then has items of their own, which the column `userId` tells apart; not in the express flavour.
    public var needsSignIn: Bool
    /// The columns that are known from the start (Node flavour: rows show them as null).
    public var columns: [Column]
    /// The operations that are answered 405.
    public var disabled: Set<Operation>
    /// The operations that only users may do, where tokens are verified.
    public var signedIn: Set<Operation>
    /// The column that holds the user's id, where tokens are verified and each user has items of their own;
    /// nil where all see all.
    public var ownerColumn: String?
    /// The name of the query pair by which the table's read script filters: a read with `region=EU` sees only
    /// rows whose column `region` is `EU`, and one without the pair sees all. Nil for no such script.
    public var readParameter: String?
    /// What scripts set in each write.
    public var scripts: Set<Script>
    /// Whether rows have a version. Without one no condition is looked at.
    public var hasVersions: Bool
    /// The columns of which no two rows that are not deleted have the same value; a write that would give
    /// them one is answered 409.
    public var uniqueColumns: [String]
    /// The columns that hold the id of a row of another table. A write with an id that the table does not have,
    /// and the deletion of a row that is named so, is answered 409.
    public var references: [String: TableName]

    /// A table; without arguments, one with text ids, soft delete and open to all.
    public init(
        softDelete: Bool = true, idKind: IDKind = .string, reusesIDs: Bool = false,
        needsSignIn: Bool = false, columns: [Column] = [], disabled: Set<Operation> = [],
        signedIn: Set<Operation> = [], ownerColumn: String? = nil, readParameter: String? = nil,
        hasVersions: Bool = true, uniqueColumns: [String] = [],
        references: [String: TableName] = [:],
        scripts: Set<Script> = []
    ) {
        self.softDelete = softDelete
        self.idKind = idKind
        self.reusesIDs = reusesIDs
        self.needsSignIn = needsSignIn
        self.columns = columns
        self.disabled = disabled
        self.signedIn = signedIn
        self.ownerColumn = ownerColumn
        self.readParameter = readParameter
        self.hasVersions = hasVersions
        self.uniqueColumns = uniqueColumns
        self.references = references
        self.scripts = scripts
    }

    /// The options of a table unless they are set: one that deletes softly, but for good in the express
    /// flavour, as that server does where `softDelete` is not set.
    public static func standard(of flavour: BackendFlavour) -> TableOptions {
        TableOptions(softDelete: flavour != .express)
    }
}

/// The address at which clients find a backend behind a proxy that speaks TLS for it, such as
/// `https://site.example`.
public struct PublicAddress: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    let scheme: String
    /// The host, with the port where one was given.
    let authority: String

    /// Reads `http://host[:port]` or the same with `https`, with a slash at its end or without; nil for anything
    /// else.
    public init?(_ text: String) {
        let pattern = /(https?):\/\/([A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?/
        guard let parts = text.wholeMatch(of: pattern) else { return nil }
        let port = parts.3.map(String.init) ?? ""
        guard port.isEmpty || UInt16(port.dropFirst()) != nil else { return nil }
        scheme = String(parts.1)
        authority = String(parts.2).lowercased() + port
    }

    /// The address as text, without a slash at its end.
    public var description: String { "\(scheme)://\(authority)" }
}
