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
