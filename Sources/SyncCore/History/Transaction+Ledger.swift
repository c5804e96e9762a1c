import GRDB
import TablesProtocol

extension Transaction {
    /// The account of every accepted write.
    func ledger() throws -> Ledger {
        var counters: [String: Int64] = [:]
        for row in try all("SELECT name, value FROM ledger") {
            counters[row[0]] = row[1]
        }
        return Ledger(
            accepted: counters["accepted"] ?? 0, applied: counters["done"] ?? 0,
            collapsed: counters["collapsed"] ?? 0, discarded: counters["discarded"] ?? 0,
            queue: try queueCounts())
    }
}
