import Dispatch
import HTTPMessage
import Synchronization

/// What callers ask of the loop's thread, in order.
final class CommandQueue: Sendable {
    /// What the loop is asked to do.
    enum Command: Sendable {
        case send(PendingCall)
        case cancel(id: UInt64)
        /// There is room again for the body of a transfer that was paused.
        case resume(id: UInt64)
    }
    private enum Phase {
        /// The loop runs and takes commands.
        case open(MultiHandle)
        /// The loop has been asked to end: it fails what is under way and frees its handle.
        case closed
    }
    private struct State {
        var phase: Phase
        var commands: [Command] = []
        var lastID: UInt64 = 0
    }
    private let state: Mutex<State>
    /// Tells that the loop's thread has ended; stopping waits for that.
    let thread = ThreadCompletion()

    init(_ multi: MultiHandle) {
        state = Mutex(State(phase: .open(multi)))
    }

    /// A number that no other call of this transport has.
    func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Adds a command and wakes the loop. Returns false, adding nothing, once the loop is ending.
    /// The wake-up is one non-blocking write to a socket pair, so it may stand under the lock, and
    /// must: it keeps the handle from being freed meanwhile.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard case .open(let multi) = state.phase else { return false }
            state.commands.append(command)
            if state.commands.count == 1 { multi.wake() }
            return true
        }
    }

    /// Asks the loop to end. Nothing happens when it was asked before.
    func close() {
        state.withLock { state in
            guard case .open(let multi) = state.phase else { return }
            multi.wake()
            state.phase = .closed
        }
    }

    /// For the loop: all commands, in order, and whether the queue is still open.
    func take() -> (taken: [Command], isOpen: Bool) {
        state.withLock { state in
            defer { state.commands = [] }
            switch state.phase {
            case .open: return (state.commands, true)
            case .closed: return (state.commands, false)
            }
        }
    }
}

/// One call of ``CurlTransport/send(_:)`` on its way to the loop.
struct PendingCall: Sendable {
    /// Counts up; names the call when it is cancelled.
    var id: UInt64
    /// What to send.
    var plan: RequestPlan
    /// The body to send, where it is not in the plan.
    var upload: ByteStream?
    /// Whether the caller gets the head first and the body as a stream.
    var isStreamed: Bool
    /// When its time is over; for a stream, the time to wait for a connection's turn.
    var deadline: ContinuousClock.Instant
    /// The caller. The code that takes the call out of the queue resumes it exactly once.
    var waiter: CheckedContinuation<Result<Response, TransportError>, Never>

    /// Answers the call with a failure before anything was sent.
    func fail(_ cause: TransportError.Cause, _ message: String) {
        let error = TransportError(reach: .notSent, cause: cause, message: message)
        waiter.resume(returning: .failure(error))
    }
}

/// Tells any number of waiters that a thread has ended.
struct ThreadCompletion: Sendable {
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
