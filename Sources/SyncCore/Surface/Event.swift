/// Something changed; whoever shows it reads it again.
public struct Event: Sendable, Hashable {
    /// What changed.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case item, operation, run, status, conflict
    }

    /// From a persisted sequence, growing.
    public var id: Int64
    /// What changed.
    public var kind: Kind
    /// Whose store it is in.
    public var identity: String
    /// The table; nil when it is about all.
    public var table: String?
    /// The item; nil when several changed.
    public var itemID: String?
    /// The operation.
    public var operationID: OperationID?
}
