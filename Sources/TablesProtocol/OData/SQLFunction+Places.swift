extension SQLFunction {
    /// Functions of places, of flags and of regular expressions.
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
        // A text and a pattern; null also for a text that is too much work.
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
