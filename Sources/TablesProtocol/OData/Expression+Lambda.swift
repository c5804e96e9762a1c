extension Expression {
    /// What a condition over the elements of an array asks for.
    public enum Quantifier: String, Sendable, Hashable, CaseIterable {
        case any, all
    }

    /// `i: i/price gt 3`, the condition that each element of an array is held against.
    public struct Lambda: Sendable, Hashable {
        /// The name that the condition gives to the element.
        public let variable: String
        /// The condition.
        public let condition: Expression

        /// A condition over an element.
        public init(_ variable: String, _ condition: Expression) {
            self.variable = variable
            self.condition = condition
        }
    }

    /// The element that a lambda looks at, or what a path leads to from it: `i`, `i/price`.
    public struct Variable: Sendable, Hashable {
        /// The name that the lambda gave to the element.
        public let name: String
        /// Names from the element on; empty for the element itself.
        public let path: [String]

        /// An element, or a value in it.
        public init(_ name: String, path: [String] = []) {
            self.name = name
            self.path = path
        }
    }
}
