import Platform
package import TablesProtocol

/// The clocks of this machine, for the stores and the engines.
package struct SystemClock: EngineClock {
    private static let start = ContinuousClock.now

    /// Makes a clock; all have the same time.
    package init() {}

    /// The wall clock.
    package func now() -> Instant { ThisProcess.now }

    /// Time since the start of the process; it goes on while the machine sleeps.
    package func uptime() -> Duration { Self.start.duration(to: .now) }

    /// Returns when `uptime()` has come to `deadline`, or early when the task is cancelled.
    package func sleep(until deadline: Duration) async {
        try? await ContinuousClock().sleep(until: Self.start.advanced(by: deadline))
    }
}
