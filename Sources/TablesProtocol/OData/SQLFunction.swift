/// A deterministic SQL function that compiled queries call. Each connection that runs them
/// registers ``all`` first.
public struct SQLFunction: Sendable {
    /// The name in SQL.
    public let name: String
    /// How many arguments it takes.
    public let argumentCount: Int
    /// What it does; pure.
    public let body: @Sendable ([SQLValue]) -> SQLValue
}
