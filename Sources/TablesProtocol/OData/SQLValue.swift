/// A value that SQLite stores: bound into a ``SQLFragment`` or passed through a ``SQLFunction``.
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// A text, which goes as its bytes if it holds U+0000.
    init(_ text: String) {
        self = text.utf8.contains(0) ? .blob(Array(text.utf8)) : .text(text)
    }

    /// The text of a text, or of the blob that stands for one.
    var string: String? {
        switch self {
        case .text(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null, .integer, .real: nil
        }
    }

    /// The bytes of a text or blob; a number has none that count.
    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        case .null, .integer, .real: 0
        }
    }

    /// A number without its fraction, within the range of its type.
    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value):
            Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
        case .null, .text, .blob: nil
        }
    }

    /// A number.
    var real: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .text, .blob: nil
        }
    }
}
