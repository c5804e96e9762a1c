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
        let first = path.dropFirst().prefix { $0 != "/" }
        return PercentEncoding.decode(first)?.lowercased() == "tables"
    }

    /// Reads `/tables/NAME` and `/tables/NAME/ID`, with or without a trailing slash.
    /// - Throws: ``TablesError`` for a bad encoding, an unknown shape or name, and a bad id.
    public init(_ path: Substring) throws(TablesError) {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        guard Self.isTables(path) else { throw .unknownTable(String(path)) }
        if segments.count > 3, segments.last?.isEmpty == true { segments.removeLast() }
        guard (3...4).contains(segments.count) else { throw .unknownTable(String(path)) }
        tablePath = segments.prefix(3).joined(separator: "/")
        let decoded = try segments[2...].map(Self.decode)
        guard let table = TableName(decoded[0]) else { throw .unknownTable(decoded[0]) }
        self.table = table
        if decoded.count > 1 {
            do throws(ItemID.Refusal) { id = try ItemID(decoded[1]) } catch {
                throw .invalidID(error)
            }
        }
    }

    private static func decode(_ segment: Substring) throws(TablesError) -> String {
        guard let text = PercentEncoding.decode(segment) else {
            throw .badRequest("The path is not percent-encoded UTF-8.")
        }
        return text
    }
}
