/// A deterministic SQL function that compiled queries call.
///
/// Each connection that runs compiled queries registers ``all`` first. A text with U+0000 is passed and
/// returned as a blob of its UTF-8 bytes.
public struct SQLFunction: Sendable {
    public struct Call: Sendable, Hashable {
        public let value: SQLValue
        /// The work in SQLite VM steps, which SQLite itself does not count.
        public let steps: Int
    }

    public let name: String
    /// How many arguments it takes.
    public let argumentCount: Int
    private let body: @Sendable ([SQLValue]) -> Call

    /// Makes a function that only reads its arguments and writes its value.
    init(
        _ name: String, _ argumentCount: Int, body: @escaping @Sendable ([SQLValue]) -> SQLValue
    ) {
        self.name = "odata_\(name)"
        self.argumentCount = argumentCount
        self.body = { arguments in
            guard arguments.count == argumentCount else { return Call(value: .null, steps: 0) }
            let value = body(arguments)
            let bytes = arguments.reduce(value.byteCount) { $0 + $1.byteCount }
            return Call(
                value: value, steps: Limits.functionSteps + bytes / Limits.functionBytesPerStep)
        }
    }

    /// Calls the function.
    /// - Parameter arguments: ``argumentCount`` of them.
    /// - Returns: null for arguments without a result.
    public func call(_ arguments: [SQLValue]) -> Call { body(arguments) }

    /// Every function that ``SQLCompiler`` uses and SQLite does not have.
    public static let all: [SQLFunction] = texts + numbers + moments
}

extension SQLFunction {
    /// Functions on numbers. An integer stays an integer.
    static let numbers: [SQLFunction] = [
        SQLFunction("mod", 2) { arguments in remainder(arguments[0], arguments[1]) },
        SQLFunction("round", 1) { arguments in
            arguments[0].rounded(.toNearestOrAwayFromZero)
        },
        // The number that a text is wholly; null for every other value.
        SQLFunction("numeric", 1) { arguments in
            guard case .text(let text) = arguments[0], NumberLiteral.isWritten(text) else {
                return .null
            }
            return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? .null
        },
        SQLFunction("floor", 1) { arguments in arguments[0].rounded(.down) },
        SQLFunction("ceiling", 1) { arguments in arguments[0].rounded(.up) },
    ]

    /// The remainder of a division, with the sign of the dividend; null for a division by zero.
    private static func remainder(_ dividend: SQLValue, _ divisor: SQLValue) -> SQLValue {
        if case .integer(let left) = dividend, case .integer(let right) = divisor {
            if right == 0 { return .null }
            return .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
        }
        guard let left = dividend.real, let right = divisor.real, right != 0 else { return .null }
        return .real(left.truncatingRemainder(dividingBy: right))
    }
}

extension SQLValue {
    fileprivate func rounded(_ rule: FloatingPointRoundingRule) -> SQLValue {
        switch self {
        case .integer: self
        case .real(let value): .real(value.rounded(rule))
        case .null, .text, .blob: .null
        }
    }
}

extension SQLFunction {
    /// Functions on dates and times. The parts of a date are those in UTC.
    static let moments: [SQLFunction] =
        [
            SQLFunction("instant", 1) { arguments in
                guard case .text(let text) = arguments[0], let instant = Instant(parsing: text)
                else { return .null }
                return .integer(instant.ticks)
            },
            // A date as a text that is ordered as its instant; any other value as it is.
            SQLFunction("ordered", 1) { arguments in
                guard case .text(let text) = arguments[0], let instant = Instant(parsing: text)
                else { return arguments[0] }
                return .text(instant.sortedText)
            },
            SQLFunction("time", 1) { arguments in
                guard case .text(let text) = arguments[0], let time = TimeLiteral(text) else {
                    return .null
                }
                return .integer(time.ticks)
            },
        ] + [
            part("year", \.year), part("month", \.month), part("day", \.day),
            part("hour", \.hour), part("minute", \.minute), part("second", \.second),
        ]

    /// A part of a date or time, which is in ticks or a text.
    private static func part(
        _ name: String, _ path: any KeyPath<Calendar, Int> & Sendable
    ) -> SQLFunction {
        SQLFunction(name, 1) { arguments in
            guard let instant = instant(arguments[0]) else { return .null }
            return .integer(Int64(instant.calendar[keyPath: path]))
        }
    }

    private static func instant(_ value: SQLValue) -> Instant? {
        switch value {
        case .integer(let ticks): Instant(ticks: ticks)
        case .text(let text):
            Instant(parsing: text) ?? TimeLiteral(text).map { Instant(ticks: $0.ticks) }
        case .null, .real, .blob: nil
        }
    }
}

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
