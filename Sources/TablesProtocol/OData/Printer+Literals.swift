extension Printer {
    func text(_ literal: Expression.Literal) throws(ODataError) -> String {
        switch literal {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let number): number.text + (dialect == .v3 ? number.kind.rawValue : "")
        case .string(let text): Self.quoted(text)
        case .instant(let instant): text(instant)
        case .guid(let guid): dialect == .v3 ? "guid'\(guid)'" : "cast(\(guid),Edm.Guid)"
        case .binary(let bytes):
            dialect == .v3
                ? "X'\(Base16.encoded(bytes))'" : "binary'\(Self.base64URL(bytes))'"
        case .date(let date):
            dialect == .v3
                ? "datetime'\(date.text)T00:00:00.000Z'" : "cast(\(date.text),Edm.Date)"
        case .time(let time):
            dialect == .v3 ? "time'\(Self.duration(time))'" : "cast(\(time.text),Edm.TimeOfDay)"
        case .duration(let duration): try v4("duration", "'\(duration.text)'")
        case .geo(let place): try v4(place.space.rawValue, Self.quoted(place.text))
        }
    }

    /// A constant that only v4 can spell, its prefix before its text in quotes.
    private func v4(_ prefix: String, _ quoted: String) throws(ODataError) -> String {
        if dialect == .v3 { throw lack("constant '\(prefix)'") }
        return prefix + quoted
    }

    static func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "''"))'"
    }

    /// OData v4 wants a zone, and `T` before the time; v3 takes the text as it is.
    private func text(_ literal: InstantLiteral) -> String {
        switch dialect {
        case .v3:
            return "\(literal.form.rawValue)'\(literal.text)'"
        case .v4:
            let isComplete =
                Instant(iso: literal.text) != nil && literal.text.utf8.contains(UInt8(ascii: "T"))
            let text = isComplete ? literal.text : InstantLiteral(literal.instant).text
            return "cast(\(text),Edm.DateTimeOffset)"
        }
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Base64.encoded(bytes).replacing("+", with: "-").replacing("/", with: "_")
    }

    /// `09:52:35.321` as `PT9H52M35.321S`.
    private static func duration(_ time: TimeLiteral) -> String {
        let fields = time.text.split(separator: ":").map { field in
            field.utf8.first == UInt8(ascii: "0") && field.utf8.count > 1
                ? String(field.dropFirst()) : String(field)
        }
        return "PT" + zip(fields, ["H", "M", "S"]).map { $0 + $1 }.joined()
    }
}
