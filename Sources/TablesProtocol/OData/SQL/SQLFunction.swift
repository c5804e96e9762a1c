/// A deterministic SQL function that compiled queries call.
///
/// Each connection that runs compiled queries registers ``all`` first. A text with U+0000 is passed and
/// returned as a blob of its UTF-8 bytes.
public struct SQLFunction: Sendable {
    /// The result of a call and its cost.
    public struct Call: Sendable, Hashable {
        /// The function's value.
        public let value: SQLValue
        /// The work in SQLite VM steps, which SQLite itself does not count.
        public let steps: Int
    }

    /// The name in SQL.
    public let name: String
    /// How many arguments it takes.
    public let argumentCount: Int
    private let body: @Sendable ([SQLValue]) -> Call

    /// Makes a function that only reads its arguments and writes its value.
    init(
        _ name: String, _ argumentCount: Int, body: @escaping @Sendable ([SQLValue]) -> SQLValue
    ) {
        self.init(name, argumentCount) { arguments, _ in body(arguments) }
    }

    /// Makes a function that does more work than that.
    /// - Parameter body: adds the additional steps to its second parameter.
    init(
        _ name: String, _ argumentCount: Int,
        working body: @escaping @Sendable ([SQLValue], inout Int) -> SQLValue
    ) {
        self.name = "odata_\(name)"
        self.argumentCount = argumentCount
        self.body = { arguments in
            guard arguments.count == argumentCount else { return Call(value: .null, steps: 0) }
            var steps = Limits.functionSteps
            let value = body(arguments, &steps)
            let bytes = arguments.reduce(value.byteCount) { $0 + $1.byteCount }
            return Call(value: value, steps: steps + bytes / Limits.functionBytesPerStep)
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
        SQLFunction("linelength", 2) { arguments in
            shape(arguments[0])?.length(space(arguments[1])).map { .real($0) } ?? .null
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
        // A text and a pattern. Null if the text takes too many steps.
        SQLFunction("matches", 2) { arguments, steps in
            guard let text = arguments[0].string, let source = arguments[1].string,
                let pattern = try? Pattern(source)
            else { return .null }
            steps += pattern.steps.count
            guard let matches = pattern.matches(text, work: &steps) else { return .null }
            return .integer(matches ? 1 : 0)
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
