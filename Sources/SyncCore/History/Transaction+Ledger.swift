import Storage
import TablesProtocol

extension Transaction {
    /// The account of every accepted write.
    func ledger() throws -> Ledger {
        let found = try all("SELECT name, value FROM ledger") { row in
            (row[0] as String, row[1] as Int64)
        }
        let counters = Dictionary(uniqueKeysWithValues: found)
        return Ledger(
            accepted: counters["accepted"] ?? 0, applied: counters["done"] ?? 0,
            collapsed: counters["collapsed"] ?? 0, discarded: counters["discarded"] ?? 0,
            queue: try queueCounts())
    }
}
