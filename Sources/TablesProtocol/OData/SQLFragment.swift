/// A piece of SQL with `?` for each of its arguments, in order.
public struct SQLFragment: Sendable, Hashable {
    /// The text. It holds no value that came from outside except escaped JSON paths.
    public var text: String
    /// The values to bind.
    public var arguments: [SQLValue]

    /// A piece of SQL.
    public init(_ text: String, _ arguments: [SQLValue] = []) {
        self.text = text
        self.arguments = arguments
    }
}
