extension Expression {
    /// The rows after a row in the order `updatedAt, id`:
    /// `(updatedAt gt T) or ((updatedAt eq T) and (id gt I))`.
    ///
    /// - Parameters:
    ///   - updatedAt: the row's own text, which is sent back as it came, to its last digit.
    ///   - id: the row's id; a GUID's text as well is sent as a string.
    /// - Returns: nil if the text is no date.
    public static func keyset(after updatedAt: String, id: String) -> Expression? {
        guard let literal = InstantLiteral(updatedAt) else { return nil }
        let column = Expression.column(.system(.updatedAt))
        let time = Expression.literal(.instant(literal))
        let tie = Expression.logical(
            .and,
            [
                .binary(.equal, column, time),
                .binary(.greaterThan, .column(.id), .literal(.string(id))),
            ])
        return .logical(.or, [.binary(.greaterThan, column, time), tie])
    }

    /// The rows changed at an instant or later, `updatedAt ge T`, with the literal's own text.
    public static func changed(since literal: InstantLiteral) -> Expression {
        .binary(.greaterOrEqual, .column(.system(.updatedAt)), .literal(.instant(literal)))
    }

    /// Both conditions, or this one if there is no other.
    public func and(_ other: Expression?) -> Expression {
        guard let other else { return self }
        return Self.joined(.and, [self, other]) ?? self
    }
}
