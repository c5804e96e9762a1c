extension Expression.Literal {
    /// What a cast of a constant is.
    enum CastResult {
        /// Another constant.
        case literal(Expression.Literal)
        /// Something to work out with the row.
        case computed
        /// Nothing: the constant has not the type's form.
        case impossible
    }

    /// The constant that `cast` makes, as the clients of the third generation write constants:
    /// `cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)`, its value bare or in quotes.
    func cast(to type: Expression.EdmType) -> CastResult {
        if self == .null { return .literal(.null) }
        switch type {
        case .guid:
            return text.map { Lexer.isGUID($0.utf8) ? .literal(.guid($0)) : .impossible }
                ?? .computed
        case .dateTime, .dateTimeOffset:
            let form: InstantLiteral.Form = type == .dateTime ? .dateTime : .dateTimeOffset
            return made { Lexer.instant($0, form).map { .instant($0) } }
        case .date:
            if case .instant = self { return .computed }
            return made { DateLiteral($0).map { .date($0) } }
        case .time, .timeOfDay:
            if case .instant = self { return .computed }
            return made { TimeLiteral($0).map { .time($0) } }
        case .string:
            if case .string = self { return .literal(self) }
            return .computed
        case .boolean:
            if case .boolean = self { return .literal(self) }
            return .computed
        case .byte, .int16, .int32, .int64:
            if case .number(let number) = self, number.integer != nil { return .literal(self) }
            return .computed
        case .decimal, .double, .single:
            if case .number = self { return .literal(self) }
            return .computed
        case .binary:
            if case .binary = self { return .literal(self) }
            return .computed
        }
    }

    /// The text of a constant that has one.
    private var text: String? {
        switch self {
        case .string(let text), .guid(let text): text
        case .instant(let instant): instant.text
        case .date(let date): date.text
        case .time(let time): time.text
        case .null, .boolean, .number, .binary: nil
        }
    }

    private func made(_ make: (String) -> Expression.Literal?) -> CastResult {
        guard let text else { return .computed }
        return make(text).map { .literal($0) } ?? .impossible
    }
}
