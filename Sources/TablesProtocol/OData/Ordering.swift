/// One term of `$orderby`.
public struct Ordering: Sendable, Hashable {
    /// What is compared.
    public let expression: Expression
    /// Whether the greatest comes first.
    public let descending: Bool

    /// A term of an order.
    public init(_ expression: Expression, descending: Bool = false) {
        self.expression = expression
        self.descending = descending
    }
}
