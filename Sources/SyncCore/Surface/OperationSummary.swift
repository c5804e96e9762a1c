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
    /// When the write was accepted.
    public var createdAt: Instant
    /// When its first request began; nil before.
    public var firstAttemptAt: Instant?
    /// When its latest request began; nil before the first.
    public var lastAttemptAt: Instant?
    /// When it is due again; nil when it is due now or waits for something else than time.
    public var nextAttemptAt: Instant?
    /// When it was closed; nil while it is open.
    public var closedAt: Instant?
    /// The status of the last attempt; nil when no answer came.
    public var lastStatus: Int?
    /// What went wrong in the last attempt, in plain words.
    public var lastError: String?
    /// The user's columns that it changes.
    public var changedColumns: [String]
    /// A short text of the item for a person.
    public var title: String?
}
