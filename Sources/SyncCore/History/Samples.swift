import Storage
public import TablesProtocol

/// One minute of the engine's life.
public struct Sample: Sendable, Hashable {
    /// The minute's beginning.
    public var at: Instant
    /// Open operations at its end.
    public var depth: Int
    /// Requests that were answered with success.
    public var succeeded: Int
    /// Requests that were not.
    public var failed: Int
    /// The mean time of an answer, in milliseconds; nil when there was none.
    public var latencyMilliseconds: Int?

    /// Makes a sample.
    public init(at: Instant, depth: Int, succeeded: Int, failed: Int, latencyMilliseconds: Int?) {
        self.at = at
        self.depth = depth
        self.succeeded = succeeded
        self.failed = failed
        self.latencyMilliseconds = latencyMilliseconds
    }
}

/// The minute samples of the last days: `samples`.
struct SampleLog {
    let transaction: Transaction

    /// Writes one minute's sample.
    func save(_ sample: Sample) throws {
        try transaction.run(
            "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)",
            [
                sample.at.milliseconds, sample.depth, sample.succeeded, sample.failed,
                sample.latencyMilliseconds,
            ])
    }

    /// The samples since some time, oldest first.
    func since(since: Instant) throws -> [Sample] {
        try transaction.all(
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
