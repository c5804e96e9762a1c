import Synchronization

/// Limits how many requests of a push are in flight. Slots are given first come, first served; none are
/// given while closed.
///
/// More operations are pushed at once than there are slots, so that the next ones are already marked in
/// flight when a request ends. An operation that gets no slot has sent nothing.
final class RequestSlots: Sendable {
    private struct State {
        var free: Int
        var isOpen = true
        /// Whether a slot was released while no operation waited for it.
        var wasIdle = false
        /// In order of arrival; at most one for each operation in flight.
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }
    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(free: max(1, count))) }

    /// Whether slots are given.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Waits for a slot.
    /// - Returns: true with a slot, which ``release()`` gives back; false while closed.
    func acquire() async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                guard state.isOpen else { return false }
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return nil
                }
                state.free -= 1
                return true
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Gives a slot back, to the operation that has waited longest.
    func release() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            state.wasIdle = true
            return nil
        }
        next?.resume(returning: true)
    }

    /// Whether a slot was released while no operation waited, since the last call.
    func takeIdleFlag() -> Bool {
        state.withLock { state in
            defer { state.wasIdle = false }
            return state.wasIdle
        }
    }

    /// Refuses every waiting and every new operation until ``open()``.
    func close() {
        let refused = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = false
            return state.waiting
        }
        for continuation in refused { continuation.resume(returning: false) }
    }

    /// Gives slots again.
    func open() { state.withLock { $0.isOpen = true } }
}

/// Asks a pass to end after the request in flight. The answer to that request is still committed.
final class CancelFlag: Sendable {
    private let flag = Mutex(false)

    /// Whether the pass has to end.
    var isSet: Bool { flag.withLock { $0 } }

    /// Ends the pass at its next step.
    func set() { flag.withLock { $0 = true } }
}
