import Storage

/// The tokens that were handed out, and the user of each, in SQLite.
enum LoginTokens {
    /// Keeps a token.
    static func add(_ connection: Connection, token: String, user: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO logins (token, user_id) VALUES (?, ?)", [token, user])
    }

    /// The user of a token; nil when it is none of this backend's.
    static func user(_ connection: Connection, token: String) throws -> String? {
        try connection.first("SELECT user_id FROM logins WHERE token = ?", [token]) { $0.text(0) }
    }

    /// Takes a token back.
    static func remove(_ connection: Connection, token: String) throws {
        try connection.run("DELETE FROM logins WHERE token = ?", [token])
    }
}
