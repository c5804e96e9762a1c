import Dispatch
import HTTPMessage
import Synchronization

/// The commands of callers to the loop's thread, in order.
final class CommandQueue: Sendable {
    enum Command: Sendable {
        case send(PendingCall)
        case cancel(id: UInt64)
        /// A paused transfer can go on.
        case resume(id: UInt64)
    }
    private enum Phase {
        /// The loop runs and takes commands.
        case open(MultiHandle)
        /// The loop was asked to end: it fails all calls and frees its handle.
        case closed
    }
    private struct State {
        var phase: Phase
        var commands: [Command] = []
        var lastID: UInt64 = 0
    }
    private let state: Mutex<State>
    /// Completes when the loop's thread has ended.
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

    /// Adds a command and wakes the loop.
    ///
    /// The wake-up happens under the lock, since the lock keeps the handle from being freed. It is one
    /// non-blocking write to a socket pair.
    /// - Returns: false, with nothing added, when the loop was asked to end.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard case .open(let multi) = state.phase else { return false }
            state.commands.append(command)
            if state.commands.count == 1 { multi.wake() }
            return true
        }
    }

    /// Asks the loop to end. A second call does nothing.
    func close() {
        state.withLock { state in
            guard case .open(let multi) = state.phase else { return }
            multi.wake()
            state.phase = .closed
        }
    }

    /// Removes all commands, for the loop.
    /// - Returns: the commands in order, and whether the queue is open.
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

/// One call of ``CurlTransport/send(_:)`` that has not begun.
struct PendingCall: Sendable {
    /// Unique for each call of the transport.
    var id: UInt64
    var plan: RequestPlan
    /// The body to send, if it is not in the plan.
    var upload: ByteStream?
    /// Whether the caller gets the head first and the body as a stream.
    var isStreamed: Bool
    /// When the call fails; for a streamed one, when its wait for a slot fails.
    var deadline: ContinuousClock.Instant
    /// The caller. The code that removes the call from the queue resumes it exactly once.
    var waiter: CheckedContinuation<Result<Response, TransportError>, Never>

    /// Fails the call. Nothing was sent.
    func fail(_ cause: TransportError.Cause, _ message: String) {
        let error = TransportError(reach: .notSent, cause: cause, message: message)
        waiter.resume(returning: .failure(error))
    }
}

/// The end of a thread, for which any number of callers can wait.
struct ThreadCompletion: Sendable {
    private let group = DispatchGroup()

    /// Records that the thread is about to be started.
    func begin() {
        group.enter()
    }

    /// Records that the thread has ended, or could not be started.
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
