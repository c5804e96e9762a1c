public import TablesProtocol

/// The time as the engine knows it: wall time for what is stored and shown, uptime for waiting, so
/// that a jump of the wall clock starts and delays nothing.
public protocol EngineClock: Sendable {
    /// The wall time.
    func now() -> Instant
    /// Time since some fixed point, never going back.
    func uptime() -> Duration
    /// Returns when ``uptime()`` has come to `deadline`, or early when the task is cancelled.
    func sleep(until deadline: Duration) async
}
