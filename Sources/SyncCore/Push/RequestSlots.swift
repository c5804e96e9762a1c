import Synchronization

/// The places of a push's requests on the wire: so many at once, first come first served, and none
/// while closed.
///
/// More turns are under way than requests, so that the next operations are marked in flight while the backend
/// still answers the ones before. A turn that is refused has sent nothing.
final class RequestSlots: Sendable {
    private struct State {
        var free: Int
        var isOpen = true
        /// A slot was left for which no turn waited.
        var wasIdle = false
        /// In order of arrival; never more than there are turns.
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }
    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(free: max(1, count))) }

    /// Whether requests are let out.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Waits for a slot. True when there is one, which ``leave()`` gives back; false when the slots
    /// are closed.
    func enter() async -> Bool {
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

    /// Gives a slot to the turn that waits longest.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            state.wasIdle = true
            return nil
        }
        next?.resume(returning: true)
    }

    /// Whether a slot was left, since this was asked last, for which no turn waited.
    func takeIdle() -> Bool {
        state.withLock { state in
            defer { state.wasIdle = false }
            return state.wasIdle
        }
    }

    /// Refuses all that wait and all that come, until ``open()``.
    func close() {
        let refused = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = false
            return state.waiting
        }
        for continuation in refused { continuation.resume(returning: false) }
    }

    /// Lets requests out again.
    func open() { state.withLock { $0.isOpen = true } }
}

/// Asks a pass to end after the request in flight; its answer is still booked.
final class CancelFlag: Sendable {
    private let flag = Mutex(false)

    /// Whether the pass shall end.
    var isSet: Bool { flag.withLock { $0 } }

    /// Ends the pass at its next step.
    func set() { flag.withLock { $0 = true } }
}
