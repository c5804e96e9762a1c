/// A piece of SQL with `?` for each of its arguments, in order.
public struct SQLFragment: Sendable, Hashable {
    /// The text. It contains no value of a request except escaped JSON paths.
    public var text: String
    public var arguments: [SQLValue]

    public init(_ text: String, _ arguments: [SQLValue] = []) {
        self.text = text
        self.arguments = arguments
    }
}

extension SQLFragment {
    /// SQL's null.
    package static let null = SQLFragment("NULL")

    static func bound(_ value: SQLValue) -> SQLFragment { SQLFragment("?", [value]) }

    /// `name(a, b)`.
    package static func call(_ name: String, _ arguments: SQLFragment...) -> SQLFragment {
        call(name, arguments)
    }

    package static func call(_ name: String, _ arguments: [SQLFragment]) -> SQLFragment {
        let list = joined(arguments, separator: ", ")
        return SQLFragment("\(name)(\(list.text))", list.arguments)
    }

    package static func joined(_ fragments: [SQLFragment], separator: String) -> SQLFragment {
        SQLFragment(
            fragments.map(\.text).joined(separator: separator), fragments.flatMap(\.arguments))
    }

    /// `(left word right)`.
    package func infix(_ word: String, _ right: SQLFragment) -> SQLFragment {
        SQLFragment("(\(text) \(word) \(right.text))", arguments + right.arguments)
    }

    /// `(a word b word c)`, split into groups so that a long chain is not a deep expression.
    package static func chain(_ operands: [SQLFragment], _ word: String) -> SQLFragment {
        guard operands.count > Limits.chainOperands else {
            let list = joined(operands, separator: " \(word) ")
            return SQLFragment("(\(list.text))", list.arguments)
        }
        let groups = stride(from: 0, to: operands.count, by: Limits.chainOperands).map { start in
            chain(
                Array(operands[start..<min(start + Limits.chainOperands, operands.count)]), word)
        }
        return chain(groups, word)
    }
}

/// A value of SQLite: an argument of a ``SQLFragment``, or an argument or result of a ``SQLFunction``.
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Makes a text. A text with U+0000 becomes a blob of its bytes.
    init(_ text: String) {
        self = text.utf8.contains(0) ? .blob(Array(text.utf8)) : .text(text)
    }

    /// The text of a text, or of a blob that stands for one; nil for other values.
    package var string: String? {
        switch self {
        case .text(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null, .integer, .real: nil
        }
    }

    /// The number of bytes of a text or blob; 0 for other values.
    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        case .null, .integer, .real: 0
        }
    }

    /// An integer, or a real without its fraction, clamped to Int64; nil for other values.
    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value):
            Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
        case .null, .text, .blob: nil
        }
    }

    /// A number; nil for other values.
    var real: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .text, .blob: nil
        }
    }
}

/// Writes SQL names and JSON paths. Only here does a name from a request enter SQL text.
enum JSONPath {
    /// A path as an SQL string constant, `'$."a"."b"'`; nil if SQLite cannot express such a key.
    ///
    /// A constant rather than a bound value, so that an index on the same expression serves it. SQLite 3.40
    /// has no escape inside `"…"`, so a key with a quote, a backslash or a control character has no path.
    static func constant(_ path: [String]) -> String? {
        var text: [UInt8] = Array("'$".utf8)
        for name in path {
            text += ".\"".utf8
            for byte in name.utf8 {
                switch byte {
                case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): return nil
                case UInt8(ascii: "'"): text += "''".utf8
                default: text.append(byte)
                }
            }
            text.append(UInt8(ascii: "\""))
        }
        text.append(UInt8(ascii: "'"))
        return String(decoding: text, as: UTF8.self)
    }

    /// An identifier in double quotes.
    static func identifier(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}
