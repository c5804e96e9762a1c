import Storage
import TablesProtocol

/// The pull token of one table, query id and filter.
struct PullToken: Sendable, Hashable {
    let rowID: Int64
    /// The backend's own text of the last row's updatedAt; nil before the first row.
    var updatedAt: String?
    /// The id of the last row.
    var lastID: String?
    /// Whether a pull has reached its end once.
    var isComplete: Bool
    var lastRunAt: Instant?
}

/// The pull tokens, and the items that each query returned: `tokens` and `members`.
struct PullTokens {
    let transaction: Transaction

    /// The token of a table, query id and filter, made if there is none. A new filter under an existing
    /// query id has a token of its own, so its pull starts from the beginning.
    func token(
        _ table: TableRecord, queryID: String, filterHash: String
    ) throws -> PullToken {
        try transaction.run(
            """
            INSERT INTO tokens(table_id, query_id, filter_hash) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING
            """, [table.id, queryID, filterHash])
        let token = try transaction.first(
            """
            SELECT id, updated_at, last_id, is_complete, last_run_at FROM tokens
            WHERE table_id = ? AND query_id = ? AND filter_hash = ?
            """, [table.id, queryID, filterHash]
        ) { row in
            PullToken(
                rowID: row[0], updatedAt: row[1], lastID: row[2], isComplete: row[3],
                lastRunAt: (row[4] as Int64?).map { Instant(milliseconds: $0) })
        }
        guard let token else { throw StoreError.failed("No token was made.") }
        return token
    }

    /// The token of a pull request.
    func token(_ table: TableRecord, of request: PullRequest) throws -> PullToken {
        try token(table, queryID: request.queryID ?? "", filterHash: request.filterHash)
    }

    /// Stores a token.
    func save(_ token: PullToken) throws {
        try transaction.run(
            """
            UPDATE tokens SET updated_at = ?, last_id = ?, is_complete = ?, last_run_at = ?
            WHERE id = ?
            """,
            [
                token.updatedAt, token.lastID, token.isComplete, token.lastRunAt?.milliseconds,
                token.rowID,
            ])
    }

    /// Whether a token is still stored. A purge, the removal of its table and a full store remove it.
    func exists(_ token: PullToken) throws -> Bool {
        try transaction.integer("SELECT 1 FROM tokens WHERE id = ?", [token.rowID]) != nil
    }

    /// Removes the tokens of a table: of one query id, or all.
    func remove(of table: TableRecord, queryID: String? = nil) throws {
        try transaction.run(
            "DELETE FROM tokens WHERE table_id = ?1 AND query_id = coalesce(?2, query_id)",
            [table.id, queryID])
    }

    /// Records that a query returned an item.
    func addMember(_ id: ItemID, to token: PullToken) throws {
        try transaction.run(
            "INSERT INTO members(token, item_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [token.rowID, id.text])
    }

    /// The ids of the items that a query returned and that have no open operation, as texts. Items that
    /// were pushed after the change counter `change` are left out.
    func cleanMembers(
        of token: PullToken, in table: TableRecord, asOf change: Int64
    ) throws -> [String] {
        try transaction.column(
            """
            SELECT item_id FROM members
            LEFT JOIN items ON items.table_id = ?1 AND items.id = members.item_id
            WHERE token = ?2 AND pending IS NULL AND coalesce(settled_at, 0) <= ?3
            """, [table.id, token.rowID, change])
    }

    /// Whether an item has another reason to stay: another query returned it, or the whole table is pulled
    /// too, even if that pull is incomplete or has not returned the item.
    func isClaimed(_ id: String, in table: TableRecord, besides token: PullToken) throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM tokens WHERE table_id = ?1 AND id <> ?2 AND (
              query_id = '' AND filter_hash = '' AND (is_complete OR updated_at IS NOT NULL)
              OR EXISTS (SELECT 1 FROM members WHERE token = tokens.id AND item_id = ?3)) LIMIT 1
            """, [table.id, token.rowID, id]) != nil
    }

    /// Removes the record that a query returned an item.
    func removeMember(_ id: String, from token: PullToken) throws {
        try transaction.run(
            "DELETE FROM members WHERE token = ? AND item_id = ?", [token.rowID, id])
    }

    /// Records which rows a query returns now, and which are deleted.
    func note(_ rows: some Sequence<ListElement>, of token: PullToken) throws {
        for row in rows.lazy.compactMap(\.row) {
            if row.isDeleted {
                try removeMember(row.id.text, from: token)
            } else {
                try addMember(row.id, to: token)
            }
        }
    }
}

extension PullToken {
    /// Advances the token to the latest row. It never goes back, although the first pages overlap.
    ///
    /// A row more than ``SyncLimits/futureSeconds`` after the beginning of the pull does not advance it:
    /// all changes before that time would be missed. The row comes again in each pull until its time.
    /// - Parameter begunAt: when the pull began, by the clock that gives rows their times.
    mutating func advance(to rows: some Sequence<ListElement>, begunAt: Instant) {
        let latest = begunAt.advanced(by: .seconds(SyncLimits.futureSeconds))
        for row in rows {
            guard let raw = row.updatedAt, let instant = Instant(iso: raw), instant <= latest
            else { continue }
            if let updatedAt, let mine = Instant(iso: updatedAt), mine > instant { continue }
            updatedAt = raw
            lastID = row.idText ?? ""
        }
    }
}
