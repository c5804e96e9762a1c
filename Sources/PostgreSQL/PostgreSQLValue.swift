/// A value that goes with a statement. The statement names its type: `$1::bigint`.
public enum PostgreSQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case boolean(Bool)
    case text(String)

    /// A text, or null.
    public init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    /// The value in PostgreSQL's text form; nil for null.
    var wire: String? {
        switch self {
        case .null: nil
        case .integer(let value): String(value)
        case .boolean(let value): value ? "t" : "f"
        case .text(let text): text
        }
    }
}

/// One row of an answer: each value in PostgreSQL's text form, nil for null.
public struct PostgreSQLRow: Sendable, Hashable {
    let values: [String?]

    /// A text.
    public func text(_ place: Int) throws(PostgreSQLError) -> String {
        guard let text = values[place] else { throw .unexpectedAnswer }
        return text
    }

    /// A text, or null.
    public func textOrNull(_ place: Int) -> String? { values[place] }

    /// A whole number.
    public func integer(_ place: Int) throws(PostgreSQLError) -> Int64 {
        guard let number = values[place].flatMap({ Int64($0) }) else { throw .unexpectedAnswer }
        return number
    }

    /// True or false.
    public func boolean(_ place: Int) throws(PostgreSQLError) -> Bool {
        switch values[place] {
        case "t": true
        case "f": false
        case _: throw .unexpectedAnswer
        }
    }
}
