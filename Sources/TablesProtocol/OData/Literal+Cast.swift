extension Expression.Literal {
    /// The constant that `cast` makes of another, as the clients of the third generation write
    /// constants: `cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)`, the value bare or in quotes.
    ///
    /// - Returns: nil if the constant has not the type's form.
    func cast(to type: EdmType) -> Expression.Literal? {
        switch (type, self) {
        case (.string, .number(let number)):
            return .string(number.text)
        case (.string, .boolean(let value)):
            return .string(value ? "true" : "false")
        case (.string, .guid), (.string, .instant), (.string, .date), (.string, .time):
            return text.map { .string($0) }
        case (.duration, .duration):
            return self
        case (.duration, .string(let text)):
            return DurationLiteral(text).map { .duration($0) }
        case (_, .null), (.string, .string), (.boolean, .boolean), (.binary, .binary),
            (.decimal, .number), (.double, .number), (.single, .number):
            return self
        case (.byte, .number(let number)), (.int16, .number(let number)),
            (.int32, .number(let number)), (.int64, .number(let number)):
            return number.integer == nil ? nil : self
        case (.guid, _):
            return text.flatMap { Lexer.isGUID($0.utf8) ? .guid($0) : nil }
        case (.dateTime, _), (.dateTimeOffset, _):
            let form: InstantLiteral.Form = type == .dateTime ? .dateTime : .dateTimeOffset
            return text.flatMap { Lexer.instant($0, form) }.map { .instant($0) }
        case (.date, _):
            return text.flatMap { DateLiteral($0) }.map { .date($0) }
        case (.time, _), (.timeOfDay, _):
            return text.flatMap { TimeLiteral($0) }.map { .time($0) }
        case (.string, _), (.boolean, _), (.binary, _), (.decimal, _), (.double, _), (.single, _),
            (.byte, _), (.int16, _), (.int32, _), (.int64, _), (.duration, _):
            return nil
        }
    }

    /// The text of a constant that has one.
    private var text: String? {
        switch self {
        case .string(let text), .guid(let text): text
        case .instant(let instant): instant.text
        case .date(let date): date.text
        case .time(let time): time.text
        case .null, .boolean, .number, .binary, .duration, .geo: nil
        }
    }
}
