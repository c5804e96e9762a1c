import GRDB

extension Store {
    /// Writes a whole, consistent copy while the store is in use.
    /// - Parameter path: where no file may be yet.
    public func backup(to path: String) async throws(StoreError) {
        let result: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            operatorReader.asyncUnsafeRead { access in
                do {
                    try access.get().execute(sql: "VACUUM INTO ?", arguments: [path])
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(StoreError(error)))
                }
            }
        }
        try result.get()
    }

    /// SQLite's check of the file, the references between rows, and the ledger.
    /// - Returns: what is wrong, in sentences; empty when all is well.
    public func check() async throws(StoreError) -> [String] {
        try await read { transaction in
            var faults = try String.fetchAll(transaction.db, sql: "PRAGMA integrity_check")
                .filter { $0 != "ok" }
            if try Row.fetchOne(transaction.db, sql: "PRAGMA foreign_key_check") != nil {
                faults.append("Rows refer to rows that are not there.")
            }
            if try !transaction.ledger().balances {
                faults.append("The ledger does not balance: a write is not accounted for.")
            }
            return faults
        }
    }
}
