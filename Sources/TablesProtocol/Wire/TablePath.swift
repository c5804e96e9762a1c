import HTTPMessage
import HTTPTypes

/// The name of a table: compared without case, kept as it was spelled.
public struct TableName: Sendable, Hashable, CustomStringConvertible {
    /// The name as it was spelled.
    public let text: String
    /// The name in lower case: what two equal names have in common.
    public let key: String

    /// Takes a name of letters, digits, `_` and `-` that begins with a letter or `_`, at most
    /// ``Limits/tableNameCharacters`` long; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= Limits.tableNameCharacters,
            Self.isLetter(first), bytes.allSatisfy(Self.isPart)
        else { return nil }
        self.text = String(text)
        key = text.lowercased()
    }

    /// The name as it was spelled.
    public var description: String { text }

    /// Names are equal whatever their case.
    public static func == (left: TableName, right: TableName) -> Bool { left.key == right.key }

    /// Hashes what equal names have in common.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte == UInt8(ascii: "-")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// The path of a request on `/tables`: split at the raw slashes first, each segment decoded once.
public struct TablePath: Sendable, Hashable {
    /// The table.
    public var table: TableName
    /// The item, when the path names one.
    public var id: ItemID?
    /// The path of the table as it came, without a trailing slash.
    var tablePath: String

    /// Whether a raw path belongs to `/tables`, whatever its case and encoding.
    public static func isTables(_ path: Substring) -> Bool {
        guard path.utf8.first == UInt8(ascii: "/") else { return false }
        let first = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
        return PercentCoding.decode(Substring(first), allowsNUL: false)?.lowercased() == "tables"
    }

    /// Reads `/tables/NAME` and `/tables/NAME/ID`, with or without a trailing slash.
    /// - Throws: ``TablesError`` for a bad encoding, an unknown shape or name, and a bad id.
    public init(_ path: Substring) throws(TablesError) {
        let slash = UInt8(ascii: "/")
        guard Self.isTables(path), let mark = path.utf8.dropFirst().firstIndex(of: slash) else {
            throw .unknownTable(String(path))
        }
        let name = path[path.utf8.index(after: mark)...]
        let nameEnd = name.utf8.firstIndex(of: slash) ?? name.endIndex
        let decoded = try Self.decode(name[..<nameEnd])
        guard let table = TableName(decoded) else { throw .unknownTable(decoded) }
        self.table = table
        tablePath = String(path[..<nameEnd])
        var rest = path.utf8[nameEnd...].dropFirst()
        if rest.isEmpty { return }
        if rest.last == slash { rest.removeLast() }
        if rest.contains(slash) { throw .unknownTable(String(path)) }
        let text = try Self.decode(Substring(rest))
        do throws(ItemID.Refusal) { id = try ItemID(text) } catch { throw .invalidID(error) }
    }

    private static func decode(_ segment: Substring) throws(TablesError) -> String {
        guard let text = PercentCoding.decode(segment, allowsNUL: false) else {
            throw .badRequest("The path is not percent-encoded UTF-8.")
        }
        return text
    }
}

/// How a client addressed a table: what its answer's links are made of.
public struct CallOrigin: Sendable, Hashable {
    /// `http` or `https`.
    public var scheme: String
    /// Host and port as the client wrote them.
    public var authority: String
    /// The path of the table, still percent-encoded, without a trailing slash.
    public var tablePath: String
    /// The pairs of the query that the next page's link carries, in their order.
    public var parameters: [QueryParameter]
    /// Whether the client asked for next links without scheme and authority.
    public var wantsPathLinks: Bool

    /// Makes an origin.
    public init(
        scheme: String, authority: String, tablePath: String, parameters: [QueryParameter] = [],
        wantsPathLinks: Bool = false
    ) {
        self.scheme = scheme
        self.authority = authority
        self.tablePath = tablePath
        self.parameters = parameters
        self.wantsPathLinks = wantsPathLinks
    }
}

extension CallOrigin {
    /// The origin of a request with this path.
    init(_ request: Request, _ path: TablePath, _ parameters: [QueryParameter]) {
        let connection = request.connection
        self.init(
            scheme: request.head.scheme ?? "http",
            authority: request.head.authority
                ?? "\(connection.localAddress):\(connection.localPort)",
            tablePath: path.tablePath, parameters: parameters,
            wantsPathLinks: ClientFamily.wantsPathLinks(request.head.headerFields))
    }
}
