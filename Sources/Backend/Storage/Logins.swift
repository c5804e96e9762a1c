import GRDB

/// Who signed in with this backend: the tokens that it handed out, and whose they are.
enum Logins {
    /// Keeps a token.
    static func add(_ database: Database, token: String, user: String) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO logins (token, user_id) VALUES (?, ?)",
            arguments: [token, user])
    }

    /// Whose token it is; nil when it is none of this backend's.
    static func user(_ database: Database, token: String) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT user_id FROM logins WHERE token = ?", arguments: [token])
    }

    /// Takes a token back.
    static func remove(_ database: Database, token: String) throws {
        try database.execute(sql: "DELETE FROM logins WHERE token = ?", arguments: [token])
    }

    /// Takes all tokens back, as if their time had passed.
    static func removeAll(_ database: Database) throws {
        try database.execute(sql: "DELETE FROM logins")
    }
}
