/// The time since a moment of this process.
enum Uptime {
    private static let start = ContinuousClock.now

    /// It only goes forward.
    static var now: Duration { start.duration(to: ContinuousClock.now) }
}
