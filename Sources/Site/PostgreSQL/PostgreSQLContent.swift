package import TablesProtocol

/// What queries on PostgreSQL look at beside a row's text, made when the row is written.
///
/// The text itself stays as it came. `jsonb` could not hold every such text: it has no U+0000, and
/// compares numbers by more digits than SQLite and the clients do.
package struct PostgreSQLContent: Sendable, Hashable {
    /// The values as the text of a jsonb: numbers as SQLite reads them, U+0000 escaped.
    package let values: String
    /// The texts that are dates, as ticks, and those that are times of day, as ticks in quotes, at the
    /// same paths; nil where there is none.
    package let moments: String?

    /// The content of a row's columns.
    package init(_ columns: Columns) {
        // Columns were valid once; a damaged row has no content.
        let value = (try? JSONValue(parsing: columns.text)) ?? .object([])
        values = Self.canonical(value).text
        moments = Self.moments(value)?.text
    }

    private static func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .number(let number): .number(JSONNumber(Self.number(number.text)) ?? number)
        case .string(let text): .string(escaped(text))
        case .array(let elements): .array(elements.map(canonical))
        case .object(let members):
            .object(members.map { .init(escaped($0.name), canonical($0.value)) })
        }
    }

    private static func moments(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .null, .bool, .number, .array: return nil
        case .string(let text):
            if let instant = Instant(parsing: text) {
                return JSONNumber(String(instant.ticks)).map { .number($0) }
            }
            return TimeLiteral(text).map { .string(String($0.ticks)) }
        case .object(let members):
            let found = members.compactMap { member in
                moments(member.value).map { JSONValue.Member(escaped(member.name), $0) }
            }
            return found.isEmpty ? nil : .object(found)
        }
    }

    /// A number as SQLite reads it, in digits that PostgreSQL compares alike: a whole number of 64 bits
    /// by all its digits, any other by those of its double.
    static func number(_ text: String) -> String {
        if let integer = Int64(text) { return String(integer) }
        let number = Double(text) ?? 0
        // Beyond every number that a double is.
        if number.isInfinite { return number < 0 ? "-1e400" : "1e400" }
        // From 2^53 on a double is whole, and its shortest digits are not its value.
        if abs(number) >= 0x1p53, let integer = Int64(exactly: number) { return String(integer) }
        return number.description
    }

    /// The constant of a query: with a suffix other than `L` it is a double.
    static func number(of literal: NumberLiteral) -> String {
        if let integer = literal.integer { return String(integer) }
        return number((Double(literal.text) ?? 0).description)
    }

    /// A text without U+0000, in the same order of bytes as all others that were escaped.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 2 }) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0: bytes += [1, 2]
            case 1: bytes += [1, 3]
            case _: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
