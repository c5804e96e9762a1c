import Storage
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
        try all(
            """
            SELECT at, depth, succeeded, failed, latency_ms FROM samples WHERE at >= ? ORDER BY at
            """, [since.milliseconds]
        ) { row in
            Sample(
                at: Instant(milliseconds: row[0]), depth: row[1], succeeded: row[2],
                failed: row[3], latencyMilliseconds: row[4])
        }
    }
}
