import Storage
public import TablesProtocol

// Changes of policies that a store could not take when they were made for all. They are taken in when the
// store is opened; until then they are kept here, also across restarts.
extension StoreIndex {
    /// Notes tables whose policies some stores have to take in.
    @available(*, noasync)
    public func leave(_ tables: [TableName], to identities: [String]) throws(StoreError) {
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

    /// The tables whose policies a store has to take in.
    @available(*, noasync)
    public func left(to identity: String) throws(StoreError) -> Set<String> {
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

    /// A store has taken in what was left to it.
    @available(*, noasync)
    public func took(_ identity: String) throws(StoreError) {
        do {
            try file.transaction(.immediate) { db in
                try db.run("DELETE FROM policies_left WHERE identity = ?", [identity])
            }
        } catch {
            throw StoreError(error)
        }
    }
}
