import TablesProtocol

/// One operation as the engine works with it.
struct TableOperation: Sendable, Hashable {
    var seq: Int64
    /// Sent as `Idempotency-Key`.
    var id: OperationID
    var tableID: Int64
    /// The table as first spelled.
    var table: TableName
    var itemID: ItemID
    var kind: OperationKind
    var state: OperationState
    var reason: String?
    var revision: Int
    /// The backend's version that the change started from; nil when it had none.
    var baseVersion: String?
    /// The user's columns that the change started from; nil for an insert.
    var baseRow: Columns?
    var changedColumns: [String]
    /// All columns for insert and replace, the changed ones for update, nil otherwise.
    var payload: Columns?
    var maybeApplied: Bool
    var parameters: [QueryParameter]
    var generation: Generation
    /// The client sent If-Match.
    var conditional: Bool
    /// The item's id was made by this store, so that nobody else can have used it.
    var madeID: Bool
    /// The backend's highest integer id before the first attempt of an insert.
    var highestID: Int64?
    var traceparent: String?
    var actor: Actor
    var attempts: Int
    var createdAt: Instant
    var firstAttemptAt: Instant?
    var lastAttemptAt: Instant?
    var nextAttemptAt: Instant?
    var closedAt: Instant?
    var lastStatus: Int?
    var lastError: String?
    var title: String?
    /// The operation that must close first.
    var successorOf: Int64?

    /// Whether a request may have taken effect: nothing may be cancelled or merged in place.
    var mayHaveReached: Bool { maybeApplied || state == .sending }
}
