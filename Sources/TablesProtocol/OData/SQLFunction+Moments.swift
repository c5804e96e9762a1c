extension SQLFunction {
    /// Functions of dates and times. Dates have the parts that they have in UTC.
    static let moments: [SQLFunction] =
        [
            SQLFunction("instant", 1) { arguments in
                guard case .text(let text) = arguments[0], let instant = Instant(parsing: text)
                else { return .null }
                return .integer(instant.ticks)
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

    /// A part of ticks or of the text of a date or time.
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
