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
