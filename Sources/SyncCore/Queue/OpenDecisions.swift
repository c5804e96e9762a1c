import Storage
public import TablesProtocol

/// An operation that waits for a person.
public struct OpenDecision: Sendable, Hashable {
    /// Its place in the queue; never used twice.
    public var seq: Int64
    /// The table as first spelled.
    public var table: String
    public var itemID: String
    /// What it does.
    public var kind: OperationKind
    /// Whether it is a conflict; otherwise the backend refused it.
    public var isConflict: Bool
    /// When the latest request for it began; nil before the first.
    public var lastAttemptAt: Instant?
    /// A short text of the item, and why it waits. They may hold values of the row, so they are read only on
    /// request.
    public var values: Values?

    /// The texts that may hold values of the row.
    public struct Values: Sendable, Hashable {
        /// A short text of the item.
        public var title: String?
        /// Why it waits.
        public var reason: String?
    }
}

/// The operations of one table that have waited for long and could be sent.
public struct LongWait: Sendable, Hashable {
    /// The table as first spelled.
    public var table: String
    public var count: Int
}

extension Store {
    /// The operations that wait for a person, the oldest first.
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - withValues: whether texts that may hold values of rows are read too.
    public func openDecisions(
        limit: Int, withValues: Bool
    ) async throws(StoreError) -> [OpenDecision] {
        try await search { transaction in
            try transaction.all(
                """
                SELECT seq, name, id_kind, item_id, kind, state, last_attempt_at, title, reason
                FROM operations INDEXED BY operations_by_state
                JOIN tables ON tables.id = operations.table_id
                WHERE state IN ('conflict', 'quarantined') ORDER BY seq LIMIT ?
                """, [limit]
            ) { row -> OpenDecision? in
                guard let kind = OperationKind(rawValue: row[4]) else { return nil }
                let idKind = IDKind(rawValue: row[2]) ?? .string
                return OpenDecision(
                    seq: row[0], table: row[1],
                    itemID: ItemID(stored: row[3], kind: idKind).text, kind: kind,
                    isConflict: OperationState(rawValue: row[5]) == .conflict,
                    lastAttemptAt: (row[6] as Int64?).map { Instant(milliseconds: $0) },
                    values: withValues ? .init(title: row[7], reason: row[8]) : nil)
            }
        }
    }

    /// The operations that were accepted before a time and could be sent, counted by table. One that waits for
    /// a person, for another operation, or for the end of a pause is none.
    public func longWaits(
        acceptedBefore time: Instant
    ) async throws(StoreError) -> [LongWait] {
        try await search { transaction in
            try transaction.all(
                """
                SELECT name, count(*) FROM operations INDEXED BY operations_due
                JOIN tables ON tables.id = operations.table_id
                WHERE \(DueOperations.mayBeSent) AND created_at < ?
                  AND table_id NOT IN \(TableWaits.pausedTables)
                GROUP BY table_id ORDER BY name_key
                """, [time.milliseconds]
            ) { LongWait(table: $0[0], count: $0[1]) }
        }
    }
}
