import GRDB
import TablesProtocol

extension TableOperation {
    /// The columns of an operation and of its table that ``init(_:)`` reads.
    static let select = """
        SELECT operations.*, tables.name AS table_name, tables.id_kind
        FROM operations JOIN tables ON tables.id = operations.table_id
        """

    init?(_ row: Row) {
        guard let table = TableName(row["table_name"] as String),
            let kind = OperationKind(rawValue: row["kind"]),
            let state = OperationState(rawValue: row["state"]),
            let generation = Generation(rawValue: row["generation"])
        else { return nil }
        seq = row["seq"]
        id = row["op_id"]
        tableID = row["table_id"]
        self.table = table
        itemID = ItemID(stored: row["item_id"], kind: IDKind(rawValue: row["id_kind"]) ?? .string)
        self.kind = kind
        self.state = state
        self.generation = generation
        reason = row["reason"]
        revision = row["revision"]
        baseVersion = row["base_version"]
        baseRow = (row["base_row"] as String?).map { Columns(stored: $0) }
        changedColumns = JSONList.names(row["changed_columns"])
        payload = (row["payload"] as String?).map { Columns(stored: $0) }
        maybeApplied = row["maybe_applied"]
        parameters = JSONList.parameters(row["parameters"])
        conditional = row["conditional"]
        madeID = row["made_id"]
        highestID = row["highest_id"]
        traceparent = row["traceparent"]
        actor = Actor(rawValue: row["actor"]) ?? .client
        title = row["title"]
        attempts = row["attempts"]
        createdAt = Instant(milliseconds: row["created_at"])
        firstAttemptAt = Self.instant(row["first_attempt_at"])
        lastAttemptAt = Self.instant(row["last_attempt_at"])
        nextAttemptAt = Self.instant(row["next_attempt_at"])
        closedAt = Self.instant(row["closed_at"])
        lastStatus = row["last_status"]
        lastError = row["last_error"]
        successorOf = row["successor_of"]
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
