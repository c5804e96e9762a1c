import Storage
public import TablesProtocol

// Policy changes for all stores that a closed store has not applied. They are stored here, also across
// restarts, and are applied when the store is opened.
extension StoreIndex {
    /// Adds tables whose policies these stores have to apply.
    @available(*, noasync)
    public func deferPolicies(
        of tables: [TableName], to identities: [String]
    ) throws(StoreError) {
        do {
            try file.transaction(.immediate) { db in
                for identity in identities {
                    for table in tables {
                        try db.run(
                            "INSERT OR IGNORE INTO policies_left VALUES (?, ?)",
                            [identity, table.text])
                    }
                }
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// The tables whose policies a store has to apply.
    @available(*, noasync)
    public func deferredPolicies(of identity: String) throws(StoreError) -> Set<String> {
        do {
            return try file.transaction(.deferred) { db in
                let names: [String] = try db.column(
                    "SELECT name FROM policies_left WHERE identity = ?", [identity])
                return Set(names)
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Removes the tables of a store that has applied their policies.
    @available(*, noasync)
    public func removeDeferredPolicies(of identity: String) throws(StoreError) {
        do {
            try file.transaction(.immediate) { db in
                try db.run("DELETE FROM policies_left WHERE identity = ?", [identity])
            }
        } catch {
            throw StoreError(error)
        }
    }
}
