import Synchronization

/// Says once that it is the first time.
final class Once: Sendable {
    private let isSpent = Mutex(false)

    /// True for whoever asks first.
    var isFirst: Bool {
        isSpent.withLock { isSpent in
            defer { isSpent = true }
            return !isSpent
        }
    }
}
