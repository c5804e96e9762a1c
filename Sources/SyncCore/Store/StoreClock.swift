public import TablesProtocol

/// The wall time, injected.
public protocol StoreClock: Sendable {
    /// The time now.
    func now() -> Instant
}
