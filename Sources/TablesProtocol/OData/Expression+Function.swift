extension Expression {
    /// The functions of both dialects; the raw value is the name on the wire, except that OData v3
    /// spells ``contains`` as `substringof` with its arguments swapped.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        case startsWith = "startswith"
        case endsWith = "endswith"
        case contains
        case length
        case toLower = "tolower"
        case toUpper = "toupper"
        case trim
        case indexOf = "indexof"
        case substring
        case concat
        case replace
        case year, month, day, hour, minute, second
        case round, floor, ceiling

        /// How many arguments the function takes.
        public var argumentCounts: ClosedRange<Int> {
            switch self {
            case .startsWith, .endsWith, .contains, .indexOf, .concat: 2...2
            case .substring: 2...3
            case .replace: 3...3
            case .length, .toLower, .toUpper, .trim, .year, .month, .day, .hour, .minute, .second,
                .round, .floor, .ceiling:
                1...1
            }
        }
    }
}
