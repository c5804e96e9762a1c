extension Expression {
    /// A constant of an expression. Numbers and instants keep the text they came with.
    public enum Literal: Sendable, Hashable {
        case null
        case boolean(Bool)
        case number(NumberLiteral)
        case string(String)
        case instant(InstantLiteral)
        /// A GUID of 36 characters, in the case it came with.
        case guid(String)
        case binary([UInt8])
        case date(DateLiteral)
        case time(TimeLiteral)
        case duration(DurationLiteral)
        case geo(GeoLiteral)
    }
}
