/// A date and time of an expression, with the very text it came with.
public struct InstantLiteral: Sendable, Hashable {
    /// How OData v3 spells it; v4 has only one form.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        case dateTime = "datetime"
        case dateTimeOffset = "datetimeoffset"
    }

    /// The text, with all its fractional digits and its own offset.
    public let text: String
    /// The spelling in v3.
    public let form: Form
    /// The instant that the text means, to 100 ns; a text without zone is UTC.
    public let instant: Instant

    /// Takes a date's text as a server or a client wrote it; nil if it is none.
    public init?(_ text: String, form: Form = .dateTimeOffset) {
        guard !text.hasPrefix("/"), let instant = Instant(parsing: text) else { return nil }
        self.text = text
        self.form = form
        self.instant = instant
    }

    /// An instant, written with seven fractional digits.
    public init(_ instant: Instant, form: Form = .dateTimeOffset) {
        let fraction = String(instant.ticks % Instant.ticksPerSecond)
        let zeros = String(repeating: "0", count: 7 - fraction.utf8.count)
        text = "\(instant.text.prefix(19)).\(zeros)\(fraction)Z"
        self.form = form
        self.instant = instant
    }
}
