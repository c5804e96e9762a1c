import Dispatch

/// Tells any number of waiters that a thread has ended.
struct ThreadLife: Sendable {
    private let group = DispatchGroup()

    /// The thread is about to be started.
    func begin() {
        group.enter()
    }

    /// The thread has ended, or was not started after all.
    func end() {
        group.leave()
    }

    /// Blocks until the thread has ended.
    @available(*, noasync, message: "blocks the thread; await ended() instead")
    func wait() {
        group.wait()
    }

    /// Returns when the thread has ended.
    func ended() async {
        await withCheckedContinuation { waiter in
            group.notify(queue: .global()) { waiter.resume() }
        }
    }
}
