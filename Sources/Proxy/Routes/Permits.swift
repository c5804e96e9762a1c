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

/// A bounded number of permits, for which a bounded number of callers wait in their order.
final class QueuedPermits: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
        /// Ends the wait when the patience is over.
        var patience: Task<Void, Never>?
    }
    private struct State {
        var free: Int
        /// Those that wait, the first one first.
        var waiting: [Waiter] = []
        var lastNumber = 0
    }
    private let state: Mutex<State>
    private let limit: Int

    /// So many permits, all free.
    /// - Parameter waiting: how many may wait for one.
    init(_ count: Int, waiting: Int) {
        state = Mutex(State(free: count))
        limit = waiting
    }

    /// Takes a permit, as soon as it is the caller's turn.
    /// - Parameter patience: returns when the caller waits no longer.
    /// - Returns: false where too many wait already, where the patience ended first, and where the
    ///   caller's task is cancelled.
    func take(patience: @escaping @Sendable () async -> Void) async -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isTaken = state.withLock { state -> Bool? in
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    guard state.waiting.count < limit else { return false }
                    state.waiting.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let isTaken { return continuation.resume(returning: isTaken) }
                // Cancelled before it could wait: the handler has found no waiter.
                if Task.isCancelled { return leave(number) }
                begin(patience, of: number)
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Gives a permit back that was taken: to the one that has waited longest.
    func release() {
        let next = state.withLock { state -> Waiter? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.patience?.cancel()
        next?.continuation.resume(returning: true)
    }

    private func begin(_ patience: @escaping @Sendable () async -> Void, of number: Int) {
        // Unstructured, since a wait may end before the patience does. It ends with `patience`, or is
        // cancelled where the waiter leaves the list: in `giveBack`, in `leave` or below.
        let task = Task {
            await patience()
            leave(number)
        }
        let isOver = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                return true
            }
            state.waiting[place].patience = task
            return false
        }
        if isOver { task.cancel() }
    }

    /// Ends a caller's wait. One that was given its permit meanwhile keeps it.
    private func leave(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.waiting.remove(at: place)
        }
        waiter?.patience?.cancel()
        waiter?.continuation.resume(returning: false)
    }
}
