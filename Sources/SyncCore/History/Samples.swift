import Storage
public import TablesProtocol

/// The sync activity of one minute.
public struct Sample: Sendable, Hashable {
    /// When the minute began.
    public var at: Instant
    /// The number of open operations at its end.
    public var depth: Int
    /// The number of requests that succeeded.
    public var succeeded: Int
    /// The number of requests that did not.
    public var failed: Int
    /// The mean time of an answer, in milliseconds; nil if there was none.
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

/// The minute samples: `samples`.
struct SampleLog {
    let transaction: Transaction

    /// Stores one minute's sample.
    func save(_ sample: Sample) throws {
        try transaction.run(
            "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)",
            [
                sample.at.milliseconds, sample.depth, sample.succeeded, sample.failed,
                sample.latencyMilliseconds,
            ])
    }

    /// The samples from a time on, oldest first.
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
