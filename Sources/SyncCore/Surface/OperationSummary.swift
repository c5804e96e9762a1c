public import TablesProtocol

/// The identity of an operation: a UUID as text, also sent as `Idempotency-Key`.
public typealias OperationID = String

/// One operation as a list shows it.
public struct OperationSummary: Sendable, Hashable {
    /// Its identity.
    public var id: OperationID
    /// Whose credential it is sent with.
    public var identity: String
    /// Its place in the order; never used twice.
    public var seq: Int64
    /// The table as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// What it does.
    public var kind: OperationKind
    /// Where it stands.
    public var state: OperationState
    /// Why it stands there, in plain words.
    public var reason: String?
    /// Grows with every change of the operation; actions name it.
    public var revision: Int
    /// How many requests were made for it.
    public var attempts: Int
    /// Whether a request without a verdict may have taken effect.
    public var maybeApplied: Bool
    /// Times of its life; nil where not reached.
    public var createdAt: Instant
    public var firstAttemptAt: Instant?
    public var lastAttemptAt: Instant?
    public var nextAttemptAt: Instant?
    public var closedAt: Instant?
    /// The status and error of the last attempt.
    public var lastStatus: Int?
    public var lastError: String?
    /// The user's columns that it changes.
    public var changedColumns: [String]
    /// A short text of the item for a person.
    public var title: String?
}
