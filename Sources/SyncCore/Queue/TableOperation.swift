import HTTPTypes
import Storage
public import TablesProtocol

/// One operation of the queue.
public struct OperationSummary: Codable, Sendable, Hashable {
    public var id: OperationID
    /// Whose it is: `anonymous`, or the key of a user.
    public var identity: String
    /// Place in the queue.
    public var seq: Int64
    public var table: String
    public var itemID: String
    public var kind: OperationKind
    public var state: OperationState
    /// Why it is in this state, in plain words.
    public var reason: String?
    /// Give it back with retry, discard, edit and resolve.
    public var revision: Int
    public var attempts: Int
    /// True when an attempt may have reached the backend and no verdict came.
    public var maybeApplied: Bool
    public var createdAt: Instant
    public var firstAttemptAt: Instant?
    public var lastAttemptAt: Instant?
    /// When it is tried again; of a queued one, when its table is.
    public var nextAttemptAt: Instant?
    public var closedAt: Instant?
    /// HTTP status of the last answer.
    public var lastStatus: Int?
    public var lastError: String?
    public var changedColumns: [String]
    /// Short text of the item for a person.
    public var title: String?
}

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
    /// See ``Change/payload``.
    var payload: Columns?
    var maybeApplied = false
    /// Whether some request for it had no verdict and may still arrive, at any later time.
    var mayArriveLate = false
    var parameters: [QueryParameter] = []
    /// The client's header fields that are sent with every attempt.
    var headers: HTTPFields = [:]
    var generation: Generation
    /// Whether the client sent a condition, such as If-Match.
    var conditional = false
    /// Whether this store generated the item's id, so that no other writer can have used it.
    var hasGeneratedID = false
    /// The backend's highest integer id before an insert was first sent.
    var highestID: Int64?
    var trace: Trace?
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
    /// The operation of the same item that must close first.
    var successorOf: Int64?
    /// The operation of another item that must close first (see ``Dependencies``).
    var waitsFor: Int64?

    /// Whether it is an insert whose id the backend assigns.
    var isAssigned: Bool { kind == .insert && itemID.kind == .integer }

    /// Whether the backend's highest id is asked for before the insert is sent. Until a request may have
    /// reached the backend, every row there is another insert's, also a row newer than an earlier attempt.
    var needsHighestID: Bool {
        isAssigned && (highestID == nil || !maybeApplied && !mayArriveLate)
    }

    /// The columns that it changes, with their new values: null for those that a replacement leaves out.
    var changes: Columns {
        payload?.picking(changedColumns) ?? Columns()
    }

    /// The item's columns as this operation leaves them: its own start with its own changes. After a delete,
    /// those with which it would come back.
    var result: Columns { result(over: baseRow) }

    /// What ``result`` would be if the operation started from another row.
    func result(over start: Columns?) -> Columns {
        var columns = start ?? Columns()
        columns.merge(changes)
        return columns
    }

    /// Whether a request may have taken effect or may still do so. If so, the operation must not be
    /// cancelled or merged in place. A conflict or a refused operation may be changed in place even if it
    /// may arrive late, because a person looks at it first.
    var mayHaveReached: Bool {
        switch state {
        case .sending: true
        case .conflict, .quarantined: maybeApplied
        case .queued, .waiting, .unknown, .done, .discarded, .collapsed:
            maybeApplied || mayArriveLate
        }
    }

    /// Whether a later change is not merged into it. A refused operation can be changed even if it may have taken
    /// effect, because its next request has its id or its version, so nothing is applied twice. An insert whose id
    /// the backend assigns has neither.
    var takesNoChange: Bool { mayHaveReached && (state != .quarantined || isAssigned) }
}

extension TableOperation {
    /// Makes a queued operation. Its `seq` is set when it is inserted.
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

extension TableOperation: Stored {
    static let stored = StoredColumns<TableOperation>(
        "operations",
        blank: TableOperation(
            id: "", tableID: 0, table: .blank, itemID: ItemID(0), kind: .insert,
            generation: .mobileApps, actor: .client, createdAt: .earliest),
        [
            .init("tables.name", \.table, .joined), .init("seq", \.seq, .assigned),
            .init("op_id", \.id, .fixed), .init("table_id", \.tableID, .fixed),
            .init("item_id", get: \.itemID.text) { $0.itemID = ItemID(stored: $1, kind: .string) },
            .init("tables.id_kind", .joined, get: \.itemID.kind.rawValue) {
                $0.itemID = ItemID(stored: $0.itemID.text, kind: IDKind(rawValue: $1) ?? .string)
            },
            .init("kind", \.kind), .init("state", \.state), .init("reason", \.reason),
            .init("revision", \.revision), .init("base_version", \.baseVersion),
            .init("base_row", \.baseRow), .init("changed_columns", \.changedColumns),
            .init("payload", \.payload), .init("maybe_applied", \.maybeApplied),
            .init("may_arrive_late", \.mayArriveLate),
            .init("parameters", get: { JSONList.text($0.parameters) }) {
                $0.parameters = JSONList.parameters($1)
            },
            .init("headers", get: \.headers.stored) { $0.headers = HTTPFields(stored: $1) },
            .init("generation", \.generation), .init("conditional", \.conditional),
            .init("made_id", \.hasGeneratedID), .init("highest_id", \.highestID),
            .init("traceparent", .fixed, get: \.trace?.parent) { operation, parent in
                operation.trace = parent.map { Trace(parent: $0) }
            },
            .init("tracestate", .fixed, get: \.trace?.state) { $0.trace?.state = $1 },
            .init("actor", \.actor, .fixed, unreadable: .client), .init("title", \.title),
            .init("attempts", \.attempts), .init("created_at", \.createdAt, .fixed),
            .init("first_attempt_at", \.firstAttemptAt), .init("last_attempt_at", \.lastAttemptAt),
            .init("next_attempt_at", \.nextAttemptAt), .init("closed_at", \.closedAt),
            .init("last_status", \.lastStatus), .init("last_error", \.lastError),
            .init("successor_of", \.successorOf), .init("waits_for", \.waitsFor),
        ])

    /// Selects operations with their tables.
    static let select = """
        SELECT \(stored.names) FROM operations JOIN tables ON tables.id = operations.table_id
        """
    // Constants, because statements are cached by their text.
    static let bySeq = "\(select) WHERE seq = ?"
    static let byID = "\(select) WHERE op_id = ?"
    static let bySuccessorOf = "\(select) WHERE successor_of = ?"
    static let byWaitsFor = "\(select) WHERE waits_for = ?"

    func summary(identity: String) -> OperationSummary {
        OperationSummary(
            id: id, identity: identity, seq: seq, table: table.text, itemID: itemID.text,
            kind: kind, state: state, reason: reason, revision: revision, attempts: attempts,
            maybeApplied: maybeApplied, createdAt: createdAt, firstAttemptAt: firstAttemptAt,
            lastAttemptAt: lastAttemptAt, nextAttemptAt: nextAttemptAt, closedAt: closedAt,
            lastStatus: lastStatus, lastError: lastError,
            changedColumns: kind == .delete ? [] : changedColumns,
            title: title)
    }
}

extension Collection<TableOperation> {
    /// The item's columns after a chain of operations; nil for none. It is computed from the first operation's base
    /// and the changes of all. The base of a later operation is not used, because it may keep values that another
    /// writer has changed since, to be judged later.
    var result: Columns? {
        guard let first else { return nil }
        return dropFirst().reduce(first.result) { columns, next in
            next.kind == .insert ? next.changes : next.result(over: columns)
        }
    }
}

extension TableOperation {
    /// Becomes a conflict, which a person has to decide.
    mutating func becomeConflict(_ reason: String) {
        state = .conflict
        self.reason = reason
        nextAttemptAt = nil
        waitsFor = nil
    }
}
