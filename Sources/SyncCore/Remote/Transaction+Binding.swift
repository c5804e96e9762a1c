import GRDB

/// Whose backend's work a store holds.
enum Binding: Sendable, Hashable {
    /// This backend's, or nobody's yet.
    case bound
    /// Another's, which answered as /tables once: nothing is sent until a person accepts the new one.
    case other(String)
}

extension Transaction {
    private static let addressKey = "backend.address"
    private static let provenKey = "backend.proven"

    /// Binds the store to a backend. One that never answered as /tables is simply given up.
    func bind(to address: BackendAddress) throws -> Binding {
        let bound = try text(Self.addressKey)
        if bound == address.description { return .bound }
        if let bound, try text(Self.provenKey) != nil { return .other(bound) }
        try set(Self.addressKey, address.description)
        return .bound
    }

    /// Notes that the bound backend gave a list.
    func noteProven() throws {
        if try text(Self.provenKey) == nil { try set(Self.provenKey, "1") }
    }

    /// Accepts another backend: the queue stays, every table is pulled anew.
    func rebind(to address: BackendAddress) throws {
        try set(Self.addressKey, address.description)
        try db.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [Self.provenKey])
        for table in try tables() { try removeTokens(of: table, queryID: nil) }
        try makeAllDue()
    }

    private func text(_ key: String) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])
    }

    private func set(_ key: String, _ value: String) throws {
        try db.execute(
            sql: "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            arguments: [key, value])
    }
}
