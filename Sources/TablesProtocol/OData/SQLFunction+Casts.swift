extension SQLFunction {
    /// Functions that make one type of another; null where it cannot be.
    static let casts: [SQLFunction] = [
        SQLFunction("boolean", 1) { arguments in
            switch arguments[0].string?.lowercased() {
            case "true": .integer(1)
            case "false": .integer(0)
            case _: .null
            }
        },
        // A number or the text of one, and the range that it must lie in.
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
        // The JSON of one value.
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
