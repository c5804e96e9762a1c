import HTTPTypes
import Storage
import TablesProtocol

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

    /// Whether the table's policy lets it win over other writers' changes: its client sent no condition.
    func isUnconditional(in table: TableRecord) -> Bool {
        !conditional && table.unconditionalPolicy == .client
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

extension TableOperation {
    /// The columns in the order in which ``init(_:)`` reads them.
    static let columns = """
        tables.name, tables.id_kind, seq, op_id, table_id, item_id, kind, state, reason, revision,
        base_version, base_row, changed_columns, payload, maybe_applied, parameters, generation,
        conditional, made_id, highest_id, traceparent, actor, title, attempts, created_at,
        first_attempt_at, last_attempt_at, next_attempt_at, closed_at, last_status, last_error,
        successor_of, may_arrive_late, waits_for, headers, tracestate
        """
    /// The index of the payload among them, from 0.
    static let payloadColumn = 13
    /// The number of these columns.
    static let columnCount = 36
    /// Selects operations with their tables.
    static let select = """
        SELECT \(columns) FROM operations JOIN tables ON tables.id = operations.table_id
        """
    // Constants, because statements are cached by their text.
    static let bySeq = "\(select) WHERE seq = ?"
    static let byID = "\(select) WHERE op_id = ?"
    static let bySuccessorOf = "\(select) WHERE successor_of = ?"
    static let byWaitsFor = "\(select) WHERE waits_for = ?"

    init?(_ row: StatementRow) {
        guard let table = TableName(row[0] as String), let kind = OperationKind(rawValue: row[6]),
            let state = OperationState(rawValue: row[7]),
            let generation = Generation(rawValue: row[16])
        else { return nil }
        seq = row[2]
        id = row[3]
        tableID = row[4]
        self.table = table
        itemID = ItemID(stored: row[5], kind: IDKind(rawValue: row[1]) ?? .string)
        self.kind = kind
        self.state = state
        self.generation = generation
        reason = row[8]
        revision = row[9]
        baseVersion = row[10]
        baseRow = (row[11] as String?).map { Columns(stored: $0) }
        changedColumns = JSONList.names(row[12])
        payload = (row[13] as String?).map { Columns(stored: $0) }
        maybeApplied = row[14]
        parameters = JSONList.parameters(row[15])
        conditional = row[17]
        hasGeneratedID = row[18]
        highestID = row[19]
        trace = (row[20] as String?).map { Trace(parent: $0, state: row[35]) }
        actor = Actor(rawValue: row[21]) ?? .client
        title = row[22]
        attempts = row[23]
        createdAt = Instant(milliseconds: row[24])
        firstAttemptAt = Self.instant(row[25])
        lastAttemptAt = Self.instant(row[26])
        nextAttemptAt = Self.instant(row[27])
        closedAt = Self.instant(row[28])
        lastStatus = row[29]
        lastError = row[30]
        successorOf = row[31]
        mayArriveLate = row[32]
        waitsFor = row[33]
        headers = HTTPFields(stored: row[34])
    }

    private static func instant(_ milliseconds: Int64?) -> Instant? {
        milliseconds.map { Instant(milliseconds: $0) }
    }

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
