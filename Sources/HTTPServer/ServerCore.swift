import HTTPMessage
import Synchronization

/// What all connections of one server share. libmicrohttpd's callbacks get a pointer to it.
final class ServerCore: Sendable {
    let handler: any HTTPHandler
    let limits: Limits
    let observer: (any RequestObserver)?
    let refused: @Sendable (RefusalReason) -> Void
    let reaper: ConnectionReaper
    let suspensions: Suspensions
    let workers = Workers()
    let exchanges: OpenExchanges
    let bodies: BodyMemory

    init(
        handler: any HTTPHandler, observer: (any RequestObserver)?, limits: Limits,
        reaper: ConnectionReaper, exchanges: OpenExchanges, changes: OpenExchanges,
        refused: @escaping @Sendable (RefusalReason) -> Void
    ) {
        self.handler = handler
        self.observer = observer
        self.limits = limits
        self.reaper = reaper
        self.exchanges = exchanges
        suspensions = Suspensions(changes: changes)
        bodies = BodyMemory(bytes: limits.bodiesBytes)
        self.refused = refused
    }
}

/// Counts the requests that are being read or answered, or the changes they make, so that stopping can
/// let them finish.
final class OpenExchanges: Sendable {
    private let count = Atomic<Int>(0)
    private let isAwaited = Atomic<Bool>(false)
    private let wakeup: Wakeup

    /// Takes the wake-up over.
    init(wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    deinit { wakeup.close() }

    /// How many there are.
    var current: Int { count.load(ordering: .sequentiallyConsistent) }

    func opened() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    func closed() {
        let left = count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isAwaited.load(ordering: .sequentiallyConsistent) {
            wakeup.signal()
        }
    }

    /// Waits until there is none, at most `milliseconds`.
    @available(*, noasync)
    func waitUntilNone(milliseconds: Int) {
        isAwaited.store(true, ordering: .sequentiallyConsistent)
        if current > 0 { wakeup.wait(milliseconds: milliseconds) }
    }
}

/// The memory for bodies that requests bring, over all connections of a server.
///
/// A small body costs nothing: as many as there are connections are little. What a body holds beyond
/// ``Limits/smallBodyBytes`` is taken from one total.
final class BodyMemory: Sendable {
    private let free: Atomic<Int>

    /// So many bytes, all free.
    init(bytes: Int) { free = Atomic(bytes) }

    /// The bytes that nothing holds.
    var freeBytes: Int { free.load(ordering: .relaxed) }

    /// Takes bytes; false, taking none, where fewer are free.
    func take(_ bytes: Int) -> Bool {
        let left = free.subtract(bytes, ordering: .relaxed).newValue
        if left >= 0 || bytes == 0 { return true }
        giveBack(bytes)
        return false
    }

    /// Gives bytes back that were taken.
    func giveBack(_ bytes: Int) { free.add(bytes, ordering: .relaxed) }
}
