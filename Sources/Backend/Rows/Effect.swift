public import TablesProtocol

/// One write that took effect: what the tests' oracle counts.
public struct Effect: Sendable, Hashable {
    /// What was done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case insert, update, replace, delete, undelete
    }

    /// Its place in the order of effects, from 1.
    public var number: Int64
    /// The table's name as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// What was done.
    public var kind: Kind
    /// The method of the request.
    public var method: String
    /// The `Idempotency-Key` that came with the request. It is only recorded: like the real servers,
    /// the backend never recognises a repeated request by it.
    public var idempotencyKey: String?
    /// When, by the backend's clock.
    public var at: Instant
}
