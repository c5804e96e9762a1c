import Synchronization
public import TablesProtocol

/// Why the engine is woken. A cause carries no work; the work is in the store.
public enum WakeCause: Sendable, Hashable {
    /// Local writes, or a person's decision about an operation, were committed.
    case write
    /// A client read this table, which should be refreshed.
    case read(TableName)
    /// The backend may be in reach again: a request was passed through, or the clock went ahead.
    case reachable
    /// A request that was passed through got no answer: the backend may be out of reach.
    case unreachable
    case signedIn
}

/// Wakes the engine's loop. Sending returns at once; a cause is kept until it is taken, and equal causes
/// count once.
final class WakeSignal: Sendable {
    private struct State {
        var causes: [WakeCause] = []
        var isSignaled = false
        var wakesOnWrites = true
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// Wakes the loop with a cause, or without one to run the schedule again.
    func send(_ cause: WakeCause?) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if cause == .write, !state.wakesOnWrites { return nil }
            if let cause, !state.causes.contains(cause) { state.causes.append(cause) }
            state.isSignaled = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Sets whether local writes wake the loop. If nothing is sent after writes, waking it would cost a
    /// single writer more than the write itself.
    func setWakesOnWrites(_ wakes: Bool) { state.withLock { $0.wakesOnWrites = wakes } }

    /// The causes since the last call.
    func take() -> [WakeCause] {
        state.withLock { state in
            defer { (state.causes, state.isSignaled) = ([], false) }
            return state.causes
        }
    }

    /// Returns as ``wait()`` does, or when the uptime reaches a deadline.
    func wait(until deadline: Duration?, _ clock: any EngineClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            if let deadline { group.addTask { await clock.sleep(until: deadline) } }
            await group.next()
            group.cancelAll()
        }
    }

    /// Returns when a signal was sent since the last ``take()``, or when the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // If cancelled before it waits, the handler found no waiter to resume.
                    if state.isSignaled || Task.isCancelled { return true }
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
