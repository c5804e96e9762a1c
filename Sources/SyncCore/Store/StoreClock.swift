public import TablesProtocol

/// The wall time, and one that only goes forward, injected.
public protocol StoreClock: Sendable {
    /// The time now.
    func now() -> Instant
    /// The time since some moment of the past.
    func uptime() -> Duration
}
