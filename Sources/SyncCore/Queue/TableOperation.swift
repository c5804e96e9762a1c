import HTTPTypes
import TablesProtocol

/// One operation as the engine works with it.
struct TableOperation: Sendable, Hashable {
    var seq: Int64 = 0
    /// Sent as `Idempotency-Key`.
    var id: OperationID
    var tableID: Int64
    /// The table as first spelled.
    var table: TableName
    var itemID: ItemID
    var kind: OperationKind
    var state = OperationState.queued
    var reason: String?
    var revision = 1
    /// The backend's version that the change started from; nil when it had none.
    var baseVersion: String?
    /// The user's columns that the change started from; nil for an insert.
    var baseRow: Columns?
    var changedColumns: [String] = []
    /// All columns for insert and replace, the changed ones for update, nil otherwise.
    var payload: Columns?
    var maybeApplied = false
    /// A request of it once got no verdict and may still arrive, however long after.
    var mayArriveLate = false
    var parameters: [QueryParameter] = []
    /// Header fields of the client that are sent with it, on every attempt.
    var headers: HTTPFields = [:]
    var generation: Generation
    /// The client sent If-Match.
    var conditional = false
    /// The item's id was made by this store, so that nobody else can have used it.
    var madeID = false
    /// The backend's highest integer id before the first attempt of an insert.
    var highestID: Int64?
    var traceparent: String?
    var actor: Actor
    var attempts = 0
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
    /// The operation of another item that must close first, as the tables declare.
    var waitsFor: Int64?

    /// Whether it is an insert whose id the backend gives.
    var isAssigned: Bool { kind == .insert && itemID.kind == .integer }

    /// The columns that it changes, with the values that it gives them: null for those that a
    /// replacement leaves out.
    var changes: Columns {
        guard let payload else { return Columns() }
        return Columns(changedColumns.map { Columns.Column($0, payload[$0] ?? .null) })
    }

    /// It changes a row of which no version is known, as after a deletion that was answered without it.
    var lacksVersion: Bool {
        switch kind {
        case .update, .replace, .undelete: baseVersion == nil
        case .insert, .delete: false
        }
    }

    /// Whether a request may have taken effect or may yet do so: nothing may be cancelled or merged
    /// in place. What a person has to look at anyway is changed in place all the same.
    var mayHaveReached: Bool {
        switch state {
        case .sending: true
        case .conflict, .quarantined: maybeApplied
        case .queued, .waiting, .unknown, .done, .discarded, .collapsed:
            maybeApplied || mayArriveLate
        }
    }
}

extension TableOperation {
    /// A new operation, queued; its place in the order comes when it is inserted.
    init(
        id: OperationID, tableID: Int64, table: TableName, itemID: ItemID, kind: OperationKind,
        generation: Generation, actor: Actor, createdAt: Instant
    ) {
        self.id = id
        self.tableID = tableID
        self.table = table
        self.itemID = itemID
        self.kind = kind
        self.generation = generation
        self.actor = actor
        self.createdAt = createdAt
    }
}
