import Synchronization

/// Counts the requests that are being read or answered, or the changes they make, so that stopping can
/// let them finish.
final class OpenExchanges: Sendable {
    private let count = Atomic<Int>(0)
    private let isAwaited = Atomic<Bool>(false)
    private let bell: Bell

    /// Takes the bell over.
    init(bell: Bell) {
        self.bell = bell
    }

    deinit { bell.close() }

    /// How many there are.
    var current: Int { count.load(ordering: .sequentiallyConsistent) }

    func opened() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    func closed() {
        let left = count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isAwaited.load(ordering: .sequentiallyConsistent) {
            bell.ring()
        }
    }

    /// Waits until there is none, at most `milliseconds`.
    @available(*, noasync)
    func waitUntilNone(milliseconds: Int) {
        isAwaited.store(true, ordering: .sequentiallyConsistent)
        if current > 0 { bell.wait(milliseconds: milliseconds) }
    }
}
