public import TablesProtocol

/// One operation with everything known of it.
public struct OperationDetail: Sendable, Hashable {
    /// What the list shows.
    public var summary: OperationSummary
    /// What is or will be sent.
    public var payload: JSONText?
    /// The row that the change started from.
    public var base: JSONText?
    /// The local row; nil when it is deleted here.
    public var mine: JSONText?
    /// The backend's last known row; nil when it has none or nobody knows.
    public var server: JSONText?
    /// The header fields of its client that are sent with it, `Name: value`; of one that may sign in the
    /// name alone.
    public var headers: [String]
    /// Every request made for it, oldest first.
    public var attemptLog: [AttemptRecord]
}
