extension SQLFunction {
    /// Functions on texts. Lengths and positions count UTF-16 units, as in .NET and JavaScript.
    static let texts: [SQLFunction] = [
        SQLFunction("text", 1) { arguments in
            // The argument is the JSON of one value. SQLite's own functions stop at U+0000.
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
        SQLFunction("startswith", 2) { arguments in
            guard let text = arguments[0].string, let start = arguments[1].string else {
                return .null
            }
            return .integer(text.utf8.starts(with: start.utf8) ? 1 : 0)
        },
        SQLFunction("contains", 2) { arguments in
            guard let text = arguments[0].string, let part = arguments[1].string else {
                return .null
            }
            return .integer(SubstringSearch(part.utf8).first(in: Array(text.utf8)) == nil ? 0 : 1)
        },
        SQLFunction("indexof", 2) { arguments in
            guard let text = arguments[0].string, let part = arguments[1].string else {
                return .null
            }
            return .integer(Int64(SubstringSearch(part.utf16).first(in: Array(text.utf16)) ?? -1))
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
                first.utf8.count + second.utf8.count <= longest(madeOf: [first, second])
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

    /// The part of a text between two UTF-16 positions, clamped to the text.
    private static func part(of text: String, from start: Int64, count: Int64) -> String {
        let units = Array(text.utf16)
        let length = Int64(units.count)
        let lower = min(max(start, 0), length)
        let upper = lower + min(max(count, 0), length - lower)
        return String(decoding: units[Int(lower)..<Int(upper)], as: UTF16.self)
    }

    /// The most bytes of a computed text: ``Limits/computedTextBytes``, or the length of the longest
    /// argument.
    private static func longest(madeOf texts: [String]) -> Int {
        texts.reduce(Limits.computedTextBytes) { max($0, $1.utf8.count) }
    }

    /// Replaces every occurrence from the left; nil if the result is too long.
    private static func replaced(_ text: String, _ old: String, _ new: String) -> String? {
        guard !old.isEmpty else { return text }
        let (bytes, sought, new) = (Array(text.utf8), SubstringSearch(old.utf8), Array(new.utf8))
        let limitBytes = longest(madeOf: [text])
        var result: [UInt8] = []
        var position = 0
        while let place = sought.first(in: bytes, from: position) {
            result += bytes[position..<place]
            result += new
            position = place + old.utf8.count
            if result.count > limitBytes { return nil }
        }
        result += bytes[position...]
        return result.count > limitBytes ? nil : String(decoding: result, as: UTF8.self)
    }
}

/// Searches for a text in time proportional to the sum of both lengths (Knuth, Morris and Pratt).
struct SubstringSearch<Unit: Equatable> {
    private let units: [Unit]
    /// For each prefix of the units: the length of its longest proper prefix that is also its suffix.
    private let borders: [Int]

    /// Makes a search for these units.
    init(_ units: some Sequence<Unit>) {
        self.units = Array(units)
        var borders: [Int] = []
        borders.reserveCapacity(self.units.count)
        var border = 0
        for place in self.units.indices {
            if place > 0 {
                while border > 0, self.units[place] != self.units[border] {
                    border = borders[border - 1]
                }
                if self.units[place] == self.units[border] { border += 1 }
            }
            borders.append(border)
        }
        self.borders = borders
    }

    /// The first position in `text`, from `start` on, at which the units occur; nil if they do not.
    func first(in text: [Unit], from start: Int = 0) -> Int? {
        if units.isEmpty { return start }
        var found = 0
        var place = start
        while place < text.count {
            while found > 0, text[place] != units[found] { found = borders[found - 1] }
            if text[place] == units[found] { found += 1 }
            place += 1
            if found == units.count { return place - found }
        }
        return nil
    }
}
