import Synchronization

/// A bounded number of permits, for which a bounded number of callers wait in order of arrival. While closed
/// it gives none, and every caller that waits gets none.
package final class Permits: Sendable {
    struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
        /// Ends the wait when the time-out is over.
        var timeout: Task<Void, Never>?
    }
    struct State {
        var free: Int
        var isOpen = true
        /// Whether a permit was returned while no caller waited for it.
        var wasIdle = false
        /// The waiting callers, the first one first.
        var waiting: [Waiter] = []
        var lastNumber = 0

        /// True with a permit, false where there will be none, nil for a caller that may wait.
        mutating func take(waitingMost limit: Int) -> Bool? {
            guard isOpen else { return false }
            if free > 0 {
                free -= 1
                return true
            }
            return waiting.count < limit ? nil : false
        }
    }
    let state: Mutex<State>
    private let limit: Int

    /// - Parameters:
    ///   - count: the number of permits, all free at first.
    ///   - waiting: how many callers may wait.
    package init(_ count: Int, waiting: Int = .max) {
        state = Mutex(State(free: count))
        limit = waiting
    }

    /// Takes a permit; false if none is free.
    package func takeNow() -> Bool { state.withLock { $0.take(waitingMost: 0) ?? false } }

    /// Takes a permit, in the order of the callers, however long that takes.
    /// - Returns: false while closed, or if too many callers wait.
    package func take() async -> Bool {
        await withCheckedContinuation { wait(number: nextNumber(), $0) }
    }

    /// Takes a permit, in the order of the callers.
    /// - Parameter timeout: returns when the wait shall end.
    /// - Returns: false while closed, if too many callers wait, if `timeout` returned first, or if the task
    ///   was cancelled.
    package func take(timeout: @escaping @Sendable () async -> Void) async -> Bool {
        let number = nextNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard wait(number: number, continuation) else { return }
                // The task was cancelled before the waiter was added, so the handler found none.
                if Task.isCancelled { return leave(number) }
                begin(timeout, of: number)
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Returns a permit. The caller that has waited longest gets it.
    package func release() {
        let next = state.withLock { state -> Waiter? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            state.wasIdle = true
            return nil
        }
        next?.timeout?.cancel()
        next?.continuation.resume(returning: true)
    }

    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Whether a permit was returned while no caller waited, since the last call.
    package func takeIdleFlag() -> Bool {
        state.withLock { state in
            defer { state.wasIdle = false }
            return state.wasIdle
        }
    }

    /// Refuses every waiting and every new caller until ``open()``.
    package func close() {
        let refused = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = false
            return state.waiting
        }
        for waiter in refused {
            waiter.timeout?.cancel()
            waiter.continuation.resume(returning: false)
        }
    }

    package func open() { state.withLock { $0.isOpen = true } }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Gives the caller a permit or none, or adds it to those that wait.
    /// - Returns: whether it waits.
    @discardableResult
    private func wait(number: Int, _ continuation: CheckedContinuation<Bool, Never>) -> Bool {
        let isTaken = state.withLock { state in
            let isTaken = state.take(waitingMost: limit)
            if isTaken == nil {
                state.waiting.append(Waiter(number: number, continuation: continuation))
            }
            return isTaken
        }
        guard let isTaken else { return true }
        continuation.resume(returning: isTaken)
        return false
    }

    private func begin(_ timeout: @escaping @Sendable () async -> Void, of number: Int) {
        // Unstructured, since a wait may end before `timeout` returns. The task ends with `timeout`, or is
        // cancelled when the waiter is removed: in `release`, `close`, `leave` or below.
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

    /// Ends a caller's wait, unless the caller has got its answer meanwhile.
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
