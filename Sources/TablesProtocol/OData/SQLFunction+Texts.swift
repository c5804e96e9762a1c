extension SQLFunction {
    /// Functions of texts. Lengths and positions count UTF-16 units, as .NET and JavaScript do.
    static let texts: [SQLFunction] = [
        SQLFunction("text", 1) { arguments in
            // The JSON of one value; SQLite's own reading of it stops at U+0000.
            guard let json = arguments[0].string, let text = try? JSONText(validating: json).string
            else { return .null }
            return SQLValue(text)
        },
        SQLFunction("length", 1) { arguments in
            guard let text = arguments[0].string else { return .null }
            return .integer(Int64(text.utf16.count))
        },
        SQLFunction("tolower", 1) { arguments in
            arguments[0].string.map { SQLValue($0.lowercased()) } ?? .null
        },
        SQLFunction("toupper", 1) { arguments in
            arguments[0].string.map { SQLValue($0.uppercased()) } ?? .null
        },
        SQLFunction("trim", 1) { arguments in
            arguments[0].string.map { SQLValue($0.withoutOuterSpace) } ?? .null
        },
        SQLFunction("endswith", 2) { arguments in
            guard let text = arguments[0].string, let end = arguments[1].string else {
                return .null
            }
            return .integer(text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8) ? 1 : 0)
        },
        SQLFunction("indexof", 2) { arguments in
            guard let text = arguments[0].string, let part = arguments[1].string else {
                return .null
            }
            return .integer(Int64(index(of: Array(part.utf16), in: Array(text.utf16))))
        },
        SQLFunction("substring", 2) { arguments in
            guard let text = arguments[0].string, let start = arguments[1].integer else {
                return .null
            }
            return SQLValue(part(of: text, from: start, count: .max))
        },
        SQLFunction("substring", 3) { arguments in
            guard let text = arguments[0].string, let start = arguments[1].integer,
                let count = arguments[2].integer
            else { return .null }
            return SQLValue(part(of: text, from: start, count: count))
        },
        SQLFunction("concat", 2) { arguments in
            guard let first = arguments[0].string, let second = arguments[1].string,
                first.utf8.count + second.utf8.count <= Limits.computedTextBytes
            else { return .null }
            return SQLValue(first + second)
        },
        SQLFunction("replace", 3) { arguments in
            guard let text = arguments[0].string, let old = arguments[1].string,
                let new = arguments[2].string
            else { return .null }
            return replaced(text, old, new).map { SQLValue($0) } ?? .null
        },
    ]

    /// The part of a text between two UTF-16 positions, as far as the text has them.
    private static func part(of text: String, from start: Int64, count: Int64) -> String {
        let units = Array(text.utf16)
        let length = Int64(units.count)
        let lower = min(max(start, 0), length)
        let upper = lower + min(max(count, 0), length - lower)
        return String(decoding: units[Int(lower)..<Int(upper)], as: UTF16.self)
    }

    /// Where a text is first found in another; -1 if it is not.
    private static func index<Unit: Equatable>(of part: [Unit], in text: [Unit]) -> Int {
        guard part.count <= text.count else { return -1 }
        guard let first = part.first else { return 0 }
        for start in 0...(text.count - part.count) where text[start] == first {
            if text[start..<start + part.count].elementsEqual(part) { return start }
        }
        return -1
    }

    /// Every occurrence replaced, unit by unit; nil if the result is too long.
    private static func replaced(_ text: String, _ old: String, _ new: String) -> String? {
        guard !old.isEmpty else { return text }
        let (bytes, part, replacement) = (Array(text.utf8), Array(old.utf8), Array(new.utf8))
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position...].starts(with: part) {
                result += replacement
                position += part.count
            } else {
                result.append(bytes[position])
                position += 1
            }
            if result.count > Limits.computedTextBytes { return nil }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
