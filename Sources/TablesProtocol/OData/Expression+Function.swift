extension Expression {
    /// The functions of both dialects; the raw value is the name on the wire in lower case, except that
    /// OData v3 spells ``contains`` as `substringof` with its arguments swapped.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        case startsWith = "startswith"
        case endsWith = "endswith"
        case contains
        /// Whether a text has a part that a regular expression describes; the second argument is a
        /// constant that ``Pattern`` reads.
        case matchesPattern = "matchespattern"
        case length
        case toLower = "tolower"
        case toUpper = "toupper"
        case trim
        case indexOf = "indexof"
        case substring
        case concat
        case replace
        case year, month, day, hour, minute, second
        case fractionalSeconds = "fractionalseconds"
        case totalOffsetMinutes = "totaloffsetminutes"
        case totalSeconds = "totalseconds"
        case date, time
        case now
        case minDateTime = "mindatetime"
        case maxDateTime = "maxdatetime"
        case round, floor, ceiling
        case geoDistance = "geo.distance"
        case geoLength = "geo.length"
        /// `items/$count`, the number of elements of an array.
        case count = "$count"

        /// How many arguments the function takes.
        public var argumentCounts: ClosedRange<Int> {
            switch self {
            case .now, .minDateTime, .maxDateTime: 0...0
            case .startsWith, .endsWith, .contains, .matchesPattern, .indexOf, .concat,
                .geoDistance:
                2...2
            case .substring: 2...3
            case .replace: 3...3
            case .length, .toLower, .toUpper, .trim, .year, .month, .day, .hour, .minute, .second,
                .fractionalSeconds, .totalOffsetMinutes, .totalSeconds, .date, .time, .round,
                .floor,
                .ceiling, .geoLength, .count:
                1...1
            }
        }

        /// Whether its arguments are places.
        var isOfPlaces: Bool { self == .geoDistance || self == .geoLength }

        /// The dialects in which servers are known to have it.
        var dialects: Set<Dialect> {
            switch self {
            case .replace: [.v3]
            case .startsWith, .endsWith, .contains, .length, .toLower, .toUpper, .trim, .indexOf,
                .substring, .concat, .year, .month, .day, .hour, .minute, .second, .round, .floor,
                .ceiling:
                [.v3, .v4]
            case .date, .time, .now, .minDateTime, .maxDateTime, .fractionalSeconds,
                .totalOffsetMinutes, .totalSeconds, .geoDistance, .count:
                [.v4]
            // Each server has its own regular expressions, and none measures lines.
            case .matchesPattern, .geoLength: []
            }
        }
    }
}
