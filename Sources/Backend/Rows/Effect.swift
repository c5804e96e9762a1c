public import TablesProtocol

/// One write that took effect. The log of effects shows whether a commit whose answer was lost took
/// effect, and tests count by it.
public struct Effect: Sendable, Hashable {
    /// The kind of the write.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case insert, update, replace, delete, undelete
    }

    /// Its place in the order of effects, from 1.
    public var number: Int64
    /// The table's name as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// The kind of the write.
    public var kind: Kind
    /// The method of the request.
    public var method: String
    /// The `Idempotency-Key` that came with the request. It is only recorded: like the real servers,
    /// the backend never recognises a repeated request by it.
    public var idempotencyKey: String?
    /// The time of the write, by the backend's clock.
    public var at: Instant
}
