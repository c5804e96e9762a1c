import HTTPMessage
import HTTPTypes

/// A table's name. Compared ignoring case; the spelling is kept.
public struct TableName: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    /// The name in lower case, for comparisons.
    public let key: String

    /// Makes a name of letters, digits, `_` and `-` that begins with a letter or `_` and has at most
    /// ``Limits/tableNameCharacters`` characters; nil for any other text.
    public init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= Limits.tableNameCharacters,
            Self.isLetter(first), bytes.allSatisfy(Self.isPart)
        else { return nil }
        self.text = String(text)
        key = text.lowercased()
    }

    public var description: String { text }

    /// Names are equal if they differ only in case.
    public static func == (left: TableName, right: TableName) -> Bool { left.key == right.key }

    /// Hashes the name in lower case.
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

/// The path of a request on `/tables`.
public struct TablePath: Sendable, Hashable {
    public var table: TableName
    /// The item's id; nil if the path has none.
    public var id: ItemID?
    /// What follows the item's id, undecoded, beginning with a slash: a path of the server's own. Empty for none.
    public var below = ""
    /// The table's path as received, without a trailing slash.
    var tablePath: String

    /// The same path with another item's id, percent-encoded.
    public func naming(_ id: ItemID) -> String {
        "\(tablePath)/\(PercentCoding.encode(id.text))\(below)"
    }

    /// Whether an undecoded path belongs to `/tables`, in any case and encoding.
    public static func isTables(_ path: Substring) -> Bool {
        guard path.utf8.first == UInt8(ascii: "/") else { return false }
        let first = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
        return PercentCoding.decode(Substring(first), allowsNUL: false)?.lowercased() == "tables"
    }

    /// Parses `/tables/NAME`, `/tables/NAME/ID`, with or without a trailing slash, and paths below. Splits the
    /// path at its undecoded slashes, then decodes each segment once.
    /// - Returns: nil for a path beside `/tables`, see ``isTables(_:)``; otherwise the path, or what is wrong
    ///   with its encoding, shape, name or id.
    public static func read(_ path: Substring) -> Result<TablePath, TablesError>? {
        guard isTables(path) else { return nil }
        var segments: [String] = []
        for raw in path.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            guard let segment = PercentCoding.decode(Substring(raw), allowsNUL: false) else {
                return .failure(.badRequest("The path is not percent-encoded UTF-8."))
            }
            segments.append(segment)
        }
        return read(path, segments)
    }

    /// The same as ``read(_:)``, for a path that was split and decoded before.
    /// - Parameters:
    ///   - path: the path as received.
    ///   - segments: its decoded segments.
    public static func read(
        _ path: Substring, _ segments: [String]
    ) -> Result<TablePath, TablesError>? {
        guard segments.first?.lowercased() == "tables" else { return nil }
        do throws(TablesError) {
            return .success(try TablePath(path, below: segments.dropFirst()))
        } catch {
            return .failure(error)
        }
    }

    /// The same as ``read(_:)``, for a path that must be a table's.
    /// - Throws: ``TablesError`` for an invalid encoding, shape, name or id.
    public init(_ path: Substring) throws(TablesError) {
        guard let read = Self.read(path) else { throw .unknownTable(String(path)) }
        self = try read.get()
    }

    private init(_ path: Substring, below segments: ArraySlice<String>) throws(TablesError) {
        guard let name = segments.first else { throw .unknownTable(String(path)) }
        guard let table = TableName(name) else { throw .unknownTable(name) }
        self.table = table
        tablePath = Self.upToSecondSegment(path)
        var rest = segments.dropFirst()
        guard rest != [""] else { return }
        if rest.last == "" { rest.removeLast() }
        guard let text = rest.first else { return }
        do throws(ItemID.Refusal) { id = try ItemID(text) } catch { throw .invalidID(error) }
        if rest.count > 1 {
            let item = path.utf8.dropFirst(tablePath.utf8.count + 1)
            below = String(Substring(item.drop { $0 != UInt8(ascii: "/") }))
        }
    }

    private static func upToSecondSegment(_ path: Substring) -> String {
        let slash = UInt8(ascii: "/")
        let name = path.utf8.dropFirst().drop { $0 != slash }.dropFirst()
        return String(path[..<(name.firstIndex(of: slash) ?? path.endIndex)])
    }
}

/// How a client addressed a table, for the links in its answer.
public struct CallOrigin: Sendable, Hashable {
    /// `http` or `https`.
    public var scheme: String
    /// Host and port as the client wrote them.
    public var authority: String
    /// The table's path, percent-encoded, without a trailing slash.
    public var tablePath: String
    /// The query pairs that the link to the next page contains, in order.
    public var parameters: [QueryParameter] = []
    /// Whether the client asked for next links without scheme and authority.
    public var wantsPathLinks = false
}

extension CallOrigin {
    /// Makes the origin of a request with this path.
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
