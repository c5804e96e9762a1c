import GRDB
import TablesProtocol

extension Transaction {
    /// The token of a table, query and filter, made when there is none. A new filter under an old
    /// query id starts from the beginning, since its token is another one.
    func token(
        _ table: TableRecord, queryID: String, filterHash: String
    ) throws -> PullToken {
        try run(
            """
            INSERT INTO tokens(table_id, query_id, filter_hash) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING
            """, [table.id, queryID, filterHash])
        let row = try first(
            "SELECT * FROM tokens WHERE table_id = ? AND query_id = ? AND filter_hash = ?",
            [table.id, queryID, filterHash])
        guard let row else { throw StoreError.failed("No token was made.") }
        return PullToken(
            rowID: row["id"], updatedAt: row["updated_at"], lastID: row["last_id"],
            isComplete: row["is_complete"],
            lastRunAt: (row["last_run_at"] as Int64?).map { Instant(milliseconds: $0) })
    }

    /// Writes how far a pull has come.
    func save(_ token: PullToken) throws {
        try run(
            """
            UPDATE tokens SET updated_at = ?, last_id = ?, is_complete = ?, last_run_at = ?
            WHERE id = ?
            """,
            [
                token.updatedAt, token.lastID, token.isComplete, token.lastRunAt?.milliseconds,
                token.rowID,
            ])
    }

    /// Forgets how far pulls of a table have come: of one query id, or of all.
    func removeTokens(of table: TableRecord, queryID: String? = nil) throws {
        try run(
            "DELETE FROM tokens WHERE table_id = ?1 AND query_id = coalesce(?2, query_id)",
            [table.id, queryID])
    }

    /// Remembers that a query brought an item.
    func addMember(_ id: ItemID, to token: PullToken) throws {
        try run(
            "INSERT INTO members(token, item_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [token.rowID, id.text])
    }

    /// The items that a query has brought, as texts.
    func members(of token: PullToken) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT item_id FROM members WHERE token = ?"),
            arguments: [token.rowID])
    }

    /// Forgets that a query brought an item.
    func removeMember(_ id: String, from token: PullToken) throws {
        try run("DELETE FROM members WHERE token = ? AND item_id = ?", [token.rowID, id])
    }
}
