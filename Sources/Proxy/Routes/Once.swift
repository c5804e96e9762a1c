import Synchronization

/// Says once that it is the first time.
final class Once: Sendable {
    private let wasAsked = Mutex(false)

    /// True for the first caller.
    var isFirst: Bool {
        wasAsked.withLock { wasAsked in
            defer { wasAsked = true }
            return !wasAsked
        }
    }

    /// Whether there was a first caller.
    var isSpent: Bool { wasAsked.withLock { $0 } }
}
