import Synchronization

/// Asks a pass to end after the request in flight; its answer is still booked.
final class CancelFlag: Sendable {
    private let flag = Mutex(false)

    /// Whether the pass shall end.
    var isSet: Bool { flag.withLock { $0 } }

    /// Ends the pass at its next step.
    func set() { flag.withLock { $0 = true } }
}
