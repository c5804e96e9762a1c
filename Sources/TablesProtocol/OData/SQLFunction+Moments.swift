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
