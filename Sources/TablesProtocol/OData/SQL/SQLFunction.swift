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
    public static let all: [SQLFunction] = texts + numbers + moments + casts + places
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
    /// Functions on geographical values, flags and regular expressions.
    static let places: [SQLFunction] = [
        // Two points, and 1 for a plane.
        SQLFunction("distance", 3) { arguments in
            guard let from = shape(arguments[0]), let to = shape(arguments[1]),
                let distance = from.distance(to: to, space(arguments[2]))
            else { return .null }
            return .real(distance)
        },
        SQLFunction("has", 2) { arguments in
            switch (arguments[0], arguments[1]) {
            case (.integer(let flags), .integer(let wanted)):
                return .integer(flags & wanted == wanted ? 1 : 0)
            case (.text(let flags), .text(let wanted)):
                return .integer(names(wanted).isSubset(of: names(flags)) ? 1 : 0)
            case (_, _): return .null
            }
        },
    ]

    private static func shape(_ value: SQLValue) -> GeoShape? {
        guard let text = value.string else { return nil }
        guard text.utf8.first == UInt8(ascii: "{") else { return GeoShape(wellKnown: text) }
        return (try? JSONText(validating: text)).flatMap { GeoShape(geoJSON: $0.value) }
    }

    private static func space(_ value: SQLValue) -> GeoLiteral.Space {
        value == .integer(1) ? .geometry : .geography
    }

    /// The names in a text of flags, `A, B`.
    private static func names(_ flags: String) -> Set<String> {
        Set(flags.split(separator: ",").map(\.withoutOuterSpace))
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
            SQLFunction("date", 1) { arguments in
                let instant: Instant?
                switch arguments[0] {
                case .integer(let ticks): instant = Instant(ticks: ticks)
                case .text(let text): instant = Instant(parsing: text)
                case .null, .real, .blob: instant = nil
                }
                guard let ticks = instant?.ticks else { return .null }
                return .integer(ticks - ticks % Instant.ticksPerDay)
            },
            SQLFunction("timeofday", 1) { arguments in
                instant(arguments[0]).map { .integer($0.ticks % Instant.ticksPerDay) } ?? .null
            },
            SQLFunction("fractionalseconds", 1) { arguments in
                guard let ticks = instant(arguments[0])?.ticks else { return .null }
                let second = Instant.ticksPerSecond
                return .real(Double(ticks % second) / Double(second))
            },
            SQLFunction("offset", 1) { arguments in
                guard case .text(let text) = arguments[0],
                    let minutes = Instant.offsetMinutes(of: text)
                else { return .null }
                return .integer(minutes)
            },
            SQLFunction("duration", 1) { arguments in
                guard case .text(let text) = arguments[0], let duration = DurationLiteral(text)
                else { return .null }
                return .integer(duration.ticks)
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

    /// Functions that convert between types; null if that is impossible.
    static let casts: [SQLFunction] = [
        SQLFunction("boolean", 1) { arguments in
            switch arguments[0].string?.lowercased() {
            case "true": .integer(1)
            case "false": .integer(0)
            case _: .null
            }
        },
        // A number or the text of one, and the range of the type.
        SQLFunction("integer", 3) { arguments in
            guard case .integer(let lowest) = arguments[1],
                case .integer(let highest) = arguments[2],
                let whole = wholeNumber(arguments[0]), (lowest...highest).contains(whole)
            else { return .null }
            return .integer(whole)
        },
        SQLFunction("real", 1) { arguments in
            switch arguments[0] {
            case .integer, .real: return arguments[0]
            case .text(let text):
                guard let number = JSONNumber(text) else { return .null }
                return Int64(number.text).map { .integer($0) }
                    ?? Double(number.text).map { .real($0) } ?? .null
            case .null, .blob: return .null
            }
        },
        // The argument is the JSON of one value.
        SQLFunction("string", 1) { arguments in
            guard let text = arguments[0].string, let json = try? JSONText(validating: text) else {
                return .null
            }
            switch json.value {
            case .string(let text): return SQLValue(text)
            case .number, .bool: return .text(json.text)
            case .null, .array, .object: return .null
            }
        },
        SQLFunction("guid", 1) { arguments in
            guard let text = arguments[0].string, Lexer.isGUID(text.utf8) else { return .null }
            return .text(text)
        },
        SQLFunction("binary", 1) { arguments in
            arguments[0].string.flatMap { Base64.decoded($0) } == nil ? .null : arguments[0]
        },
        SQLFunction("instanttext", 1) { arguments in
            guard case .integer(let ticks) = arguments[0] else { return .null }
            let instant = Instant(ticks: ticks)
            let isWhole = instant.ticks.isMultiple(of: Instant.ticksPerMillisecond)
            return .text(isWhole ? instant.text : InstantLiteral(instant).text)
        },
        SQLFunction("timetext", 1) { arguments in
            guard case .integer(let ticks) = arguments[0] else { return .null }
            return .text(
                String(InstantLiteral(Instant(ticks: ticks)).text.dropFirst(11).dropLast()))
        },
        SQLFunction("durationtext", 1) { arguments in
            guard case .integer(let ticks) = arguments[0] else { return .null }
            return .text(DurationLiteral(ticks: ticks).text)
        },
    ]

    private static func wholeNumber(_ value: SQLValue) -> Int64? {
        switch value {
        case .integer(let whole): whole
        case .real(let number): Int64(exactly: number.rounded(.towardZero))
        case .text(let text): JSONNumber(text).flatMap { Int64($0.text) }
        case .null, .blob: nil
        }
    }
}
