import Synchronization

/// A bounded number of places, taken and given back from any thread.
final class Places: Sendable {
    private let free: Mutex<Int>

    /// So many places, all free.
    init(_ count: Int) { free = Mutex(count) }

    /// Takes a place; false when there is none.
    func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Gives a place back that was taken.
    func giveBack() { free.withLock { $0 += 1 } }
}
