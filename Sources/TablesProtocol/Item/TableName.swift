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
