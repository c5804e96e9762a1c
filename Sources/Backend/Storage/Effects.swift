import GRDB
public import TablesProtocol

/// One write that took effect: what the tests' oracle counts.
public struct Effect: Sendable, Hashable {
    /// What was done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case insert, update, replace, delete, undelete
    }

    /// Its place in the order of effects, from 1.
    public var number: Int64
    /// The table's name as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// What was done.
    public var kind: Kind
    /// The method of the request.
    public var method: String
    /// The `Idempotency-Key` that came with the request. It is only recorded: like the real servers,
    /// the backend never recognises a repeated request by it.
    public var idempotencyKey: String?
    /// When, by the backend's clock.
    public var at: Instant
}

/// The log of effects in the database.
enum Effects {
    /// Logs an effect in the transaction that has it.
    static func add(_ database: Database, _ effect: Effect) throws {
        try database.execute(
            sql: """
                INSERT INTO effects (table_name, item_id, kind, method, idempotency_key, at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                effect.table, effect.itemID, effect.kind.rawValue, effect.method,
                effect.idempotencyKey, effect.at.ticks,
            ])
    }

    /// The effects after a number, in order.
    static func list(_ database: Database, after: Int64, limit: Int) throws -> [Effect] {
        try GRDB.Row.fetchAll(
            database, sql: "SELECT * FROM effects WHERE number > ? ORDER BY number LIMIT ?",
            arguments: [after, limit]
        ).map { row in
            Effect(
                number: row["number"], table: row["table_name"], itemID: row["item_id"],
                kind: Effect.Kind(rawValue: row["kind"]) ?? .update, method: row["method"],
                idempotencyKey: row["idempotency_key"], at: Instant(ticks: row["at"]))
        }
    }

    /// How many effects an item had.
    static func count(_ database: Database, _ table: String, _ id: String) throws -> Int {
        try Int.fetchOne(
            database,
            sql: """
                SELECT count(*) FROM effects WHERE table_name = ? COLLATE NOCASE AND item_id = ?
                """,
            arguments: [table, id]) ?? 0
    }
}
