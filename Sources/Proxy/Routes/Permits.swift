import Synchronization

/// A bounded number of permits, taken and given back from any thread.
final class Permits: Sendable {
    private let free: Mutex<Int>

    /// So many permits, all free.
    init(_ count: Int) { free = Mutex(count) }

    /// Takes a permit; false when there is none.
    func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Gives a permit back that was taken.
    func release() { free.withLock { $0 += 1 } }
}
