import GRDB
import TablesProtocol

extension Transaction {
    /// Writes one minute's sample.
    func save(_ sample: Sample) throws {
        try run(
            "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)",
            [
                sample.at.milliseconds, sample.depth, sample.succeeded, sample.failed,
                sample.latencyMilliseconds,
            ])
    }

    /// The samples since some time, oldest first.
    func samples(since: Instant) throws -> [Sample] {
        try all("SELECT * FROM samples WHERE at >= ? ORDER BY at", [since.milliseconds]).map {
            Sample(
                at: Instant(milliseconds: $0["at"]), depth: $0["depth"],
                succeeded: $0["succeeded"], failed: $0["failed"],
                latencyMilliseconds: $0["latency_ms"])
        }
    }
}
