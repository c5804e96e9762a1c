import Synchronization
public import TablesProtocol

/// Why the engine is woken. Waking never waits and carries no work: the work is in the store.
public enum WakeCause: Sendable, Hashable {
    /// Local writes were committed.
    case write
    /// A person acted on an operation: retried, resolved, edited it.
    case action
    /// A client read this table, and wants it fresh.
    case read(TableName)
    /// Something suggests that the backend can be reached: a request was passed through.
    case reachable
    /// A request that was passed through got no answer: the backend may be out of reach.
    case unreachable
    /// A user signed in.
    case signedIn
}

/// Wakes the one loop that waits on it. Sending never waits; what was sent is kept until taken, and
/// the same cause twice is one.
final class WakeSignal: Sendable {
    private struct State {
        var causes: [WakeCause] = []
        var isRung = false
        var hearsWrites = true
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// Wakes the loop for a cause, or just so that it looks again.
    func send(_ cause: WakeCause?) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if cause == .write, !state.hearsWrites { return nil }
            if let cause, !state.causes.contains(cause) { state.causes.append(cause) }
            state.isRung = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Says whether local writes wake the loop. Where nothing is sent after writes, waking it for each
    /// of them costs a single writer more than the write.
    func hear(writes: Bool) { state.withLock { $0.hearsWrites = writes } }

    /// Why the loop was woken since it last asked.
    func take() -> [WakeCause] {
        state.withLock { state in
            defer { (state.causes, state.isRung) = ([], false) }
            return state.causes
        }
    }

    /// Returns when something was sent that was not taken yet, or when the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // Cancelled before it could wait: the handler has found no waiter to wake.
                    if state.isRung || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
