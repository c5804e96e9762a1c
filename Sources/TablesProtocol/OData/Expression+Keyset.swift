extension Expression {
    /// The rows after a row in the order `updatedAt, id`:
    /// `(updatedAt gt T) or ((updatedAt eq T) and (id gt I))`.
    ///
    /// - Parameters:
    ///   - updatedAt: the row's own text, which is sent back as it came, to its last digit.
    ///   - id: the row's id, sent as a string, a GUID as well; as a number if the ids are integers.
    /// - Returns: nil if the text is no date.
    public static func keyset(after updatedAt: String, id: String, kind: IDKind = .string)
        -> Expression?
    {
        guard let literal = InstantLiteral(updatedAt) else { return nil }
        let column = Expression.column(.system(.updatedAt))
        let time = Expression.literal(.instant(literal))
        let last: Literal =
            kind == .integer
            ? Int64(id).map { .number(NumberLiteral($0)) } ?? .string(id) : .string(id)
        let tie = Expression.logical(
            .and,
            [
                .binary(.equal, column, time),
                .binary(.greaterThan, .column(.id), .literal(last)),
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
