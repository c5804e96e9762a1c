import Synchronization

/// A bounded number of permits, taken and given back from any thread.
final class Permits: Sendable {
    private let free: Mutex<Int>

    /// - Parameter count: the number of permits, all free at first.
    init(_ count: Int) { free = Mutex(count) }

    /// Takes a permit; false if none is free.
    func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Returns a permit.
    func release() { free.withLock { $0 += 1 } }
}

/// A bounded number of permits, for which a bounded number of callers wait in order of arrival.
final class QueuedPermits: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
        /// Ends the wait when the time-out is over.
        var timeout: Task<Void, Never>?
    }
    private struct State {
        var free: Int
        /// The waiting callers, the first one first.
        var waiting: [Waiter] = []
        var lastNumber = 0
    }
    private let state: Mutex<State>
    private let limit: Int

    /// - Parameters:
    ///   - count: the number of permits, all free at first.
    ///   - waiting: how many callers may wait.
    init(_ count: Int, waiting: Int) {
        state = Mutex(State(free: count))
        limit = waiting
    }

    /// Takes a permit, in the order of the callers.
    /// - Parameter timeout: returns when the wait shall end.
    /// - Returns: false if too many callers wait, if `timeout` returned first, or if the task was cancelled.
    func take(timeout: @escaping @Sendable () async -> Void) async -> Bool {
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
                // The task was cancelled before the waiter was added, so the handler found none.
                if Task.isCancelled { return leave(number) }
                begin(timeout, of: number)
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Returns a permit. The caller that has waited longest gets it.
    func release() {
        let next = state.withLock { state -> Waiter? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.timeout?.cancel()
        next?.continuation.resume(returning: true)
    }

    private func begin(_ timeout: @escaping @Sendable () async -> Void, of number: Int) {
        // Unstructured, since a wait may end before `timeout` returns. The task ends with `timeout`, or is
        // cancelled when the waiter is removed: in `release`, in `leave` or below.
        let task = Task {
            await timeout()
            leave(number)
        }
        let isOver = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                return true
            }
            state.waiting[place].timeout = task
            return false
        }
        if isOver { task.cancel() }
    }

    /// Ends a caller's wait, unless the caller has got its permit meanwhile.
    private func leave(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.waiting.remove(at: place)
        }
        waiter?.timeout?.cancel()
        waiter?.continuation.resume(returning: false)
    }
}
