/// A date without time (`Edm.Date`), `2023-12-15`.
public struct DateLiteral: Sendable, Hashable {
    /// The text, ten characters.
    public let text: String
    /// Its midnight in UTC.
    public let instant: Instant

    /// Takes a date's text; nil if there is no such date.
    public init?(_ text: String) {
        guard text.utf8.count == 10, !text.hasPrefix("/"), let instant = Instant(parsing: text)
        else { return nil }
        self.text = text
        self.instant = instant
    }
}
