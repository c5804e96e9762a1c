import GRDB

/// A store's file looked at from outside: beside the process that owns it, or as a copy. Nothing in
/// it is changed.
public struct StoreFile: Sendable {
    private let path: String

    /// Names a file.
    public init(_ path: String) { self.path = path }

    /// Writes a whole, consistent copy, also while a process works on the file.
    /// - Parameter path: where no file may be yet.
    public func backup(to path: String) async throws(StoreError) {
        try await reading { db in
            try db.execute(sql: "VACUUM INTO ?", arguments: [path])
        }
    }

    /// SQLite's check of the file and of the references between its rows.
    /// - Returns: what is wrong, in sentences; empty when all is well.
    public func check() async throws(StoreError) -> [String] {
        try await reading { db in
            var faults = try String.fetchAll(db, sql: "PRAGMA integrity_check")
                .filter { $0 != "ok" }
            if try Row.fetchOne(db, sql: "PRAGMA foreign_key_check") != nil {
                faults.append("Rows refer to rows that are not there.")
            }
            if try String.fetchOne(db, sql: "SELECT name FROM sqlite_master WHERE name = 'items'")
                == nil
            {
                faults.append("It holds no items: this is not a store.")
            }
            return faults
        }
    }

    /// How many rows and open operations it holds.
    public func counts() async throws(StoreError) -> (items: Int, open: Int) {
        try await reading { db in
            (
                try Int.fetchOne(db, sql: "SELECT count(*) FROM items WHERE deleted = 0") ?? 0,
                try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM operations WHERE closed_at IS NULL") ?? 0
            )
        }
    }

    /// The names of its tables.
    public func tables() async throws(StoreError) -> [String] {
        try await reading { db in
            try String.fetchAll(db, sql: "SELECT name FROM tables ORDER BY name")
        }
    }

    /// The address of the backend whose work it holds; nil while it is nobody's.
    public func backend() async throws(StoreError) -> String? {
        try await reading { db in
            try String.fetchOne(
                db, sql: "SELECT value FROM meta WHERE key = ?",
                arguments: [Transaction.addressKey])
        }
    }

    private func reading<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let connection: DatabaseQueue
        do {
            connection = try Connection.reader(path, budget: nil)
        } catch {
            throw StoreError(error)
        }
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            connection.asyncUnsafeRead { access in
                do {
                    continuation.resume(returning: .success(try body(try access.get())))
                } catch {
                    continuation.resume(returning: .failure(StoreError(error)))
                }
            }
        }
        try? connection.close()
        return try result.get()
    }
}
