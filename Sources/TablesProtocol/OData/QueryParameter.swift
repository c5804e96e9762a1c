/// One `name=value` pair of a query string.
public struct QueryParameter: Sendable, Hashable {
    /// The decoded name.
    public let name: String
    /// The decoded value; empty if the pair has no `=`.
    public let value: String
    /// The pair as it came, still encoded.
    public let raw: String

    /// A pair with its wire form.
    public init(name: String, value: String, raw: String) {
        self.name = name
        self.value = value
        self.raw = raw
    }
}
