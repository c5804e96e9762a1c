import HTTPTypes
import Storage
import TablesProtocol

extension TableOperation {
    /// The columns in the order in which ``init(_:)`` reads them.
    static let columns = """
        tables.name, tables.id_kind, seq, op_id, table_id, item_id, kind, state, reason, revision,
        base_version, base_row, changed_columns, payload, maybe_applied, parameters, generation,
        conditional, made_id, highest_id, traceparent, actor, title, attempts, created_at,
        first_attempt_at, last_attempt_at, next_attempt_at, closed_at, last_status, last_error,
        successor_of, may_arrive_late, waits_for, headers
        """
    /// Where among them the payload is, counted from 0.
    static let payloadColumn = 13
    /// How many those are.
    static let columnCount = 35
    /// Operations with their tables.
    static let select = """
        SELECT \(columns) FROM operations JOIN tables ON tables.id = operations.table_id
        """
    // Made once: they are looked up by their text each time.
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
        madeID = row[18]
        highestID = row[19]
        traceparent = row[20]
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

    /// What a list shows.
    func summary(identity: String) -> OperationSummary {
        OperationSummary(
            id: id, identity: identity, seq: seq, table: table.text, itemID: itemID.text,
            kind: kind, state: state, reason: reason, revision: revision, attempts: attempts,
            maybeApplied: maybeApplied, createdAt: createdAt, firstAttemptAt: firstAttemptAt,
            lastAttemptAt: lastAttemptAt, nextAttemptAt: nextAttemptAt, closedAt: closedAt,
            lastStatus: lastStatus, lastError: lastError, changedColumns: changedColumns,
            title: title)
    }
}
