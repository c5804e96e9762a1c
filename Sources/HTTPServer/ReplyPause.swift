import HTTPMessage
import HTTPTypes
import Synchronization

/// The wait for the reply of a handler that answers ``Answer/later(_:)``. The reply may come from any thread.
///
/// Suspending and resuming happen inside the lock, so the next holder of the lock finds a connection that
/// runs or is suspended, never one in between. libmicrohttpd calls no code here while it holds its own locks,
/// so the two locks cannot wait for each other.
final class ReplyPause: Interruptible {
    private enum State {
        /// The handler's closure runs on the connection's thread; nothing is suspended.
        case open
        /// The connection is suspended; one resume is owed.
        case suspended
        /// The reply has come and the connection runs.
        case replied(Response)
        /// The reply was taken, or the connection has ended.
        case over
    }
    /// What a stop of the server does while the reply is outstanding.
    private enum StopAction {
        case answerWith(Response)
        /// It waits: a change is in progress, and ``Suspensions`` counts it.
        case wait
    }
    private struct Waiting {
        var state = State.open
        var onStop = StopAction.answerWith(RefusalReason.stopping.response)
        var isChange: Bool { if case .wait = onStop { true } else { false } }
    }
    private let waiting = Mutex(Waiting())
    private let connection: ConnectionHandle
    private let suspensions: Suspensions

    init(connection: ConnectionHandle, suspensions: Suspensions) {
        self.connection = connection
        self.suspensions = suspensions
    }

    /// Accepts the first reply and resumes the connection if it is suspended. Later replies are dropped.
    func reply(_ response: Response) {
        let isTaken = waiting.withLock { accept(response, &$0) }
        if !isTaken, case .stream(let stream) = response.body { stream.cancel() }
    }

    private func accept(_ response: Response, _ waiting: inout Waiting) -> Bool {
        switch waiting.state {
        case .open: waiting.state = .replied(response)
        case .suspended:
            waiting.state = .replied(response)
            connection.resume()
        // The last copy of a reply answers once more when it is dropped.
        case .replied, .over: return false
        }
        // A stop waits for the body of a streamed answer too.
        if case .stream = response.body { return true }
        releaseChange(&waiting)
        return true
    }

    private func releaseChange(_ waiting: inout Waiting) {
        guard case .wait = waiting.onStop else { return }
        waiting.onStop = .answerWith(RefusalReason.stopping.response)
        suspensions.changeEnded()
    }

    /// Whether a stop waits for the reply, or for the rest of its body.
    var isChange: Bool { waiting.withLock { $0.isChange } }

    /// Records that the answer was sent, or cannot be.
    func replySent() { waiting.withLock { releaseChange(&$0) } }

    /// Makes a stop wait for the reply.
    /// - Returns: false when the request is answered or the server stops.
    func tryBeginChange() -> Bool {
        waiting.withLock { waiting in
            switch waiting.state {
            case .open, .suspended: break
            case .replied, .over: return false
            }
            guard case .answerWith(let response) = waiting.onStop else { return true }
            guard suspensions.tryBeginChange() else {
                _ = accept(response, &waiting)
                return false
            }
            waiting.onStop = .wait
            return true
        }
    }

    /// Makes a stop answer with `response` from now on, or at once where the server is stopping.
    func endChange(answerOnStop response: Response) {
        waiting.withLock { waiting in
            guard case .wait = waiting.onStop else { return }
            if suspensions.isClosed {
                _ = accept(response, &waiting)
            } else {
                releaseChange(&waiting)
                waiting.onStop = .answerWith(response)
            }
        }
    }

    /// Whether the client has closed its side, or the reply is here.
    var clientHasLeft: Bool {
        waiting.withLock { waiting in
            switch waiting.state {
            // The socket is open: libmicrohttpd closes none that is suspended, and before it closes any
            // other, ``connectionEnded()`` gets the lock.
            case .open, .suspended: connection.hasPeerClosed
            case .replied, .over: true
            }
        }
    }

    /// Answers with 503, or with the answer that the handler set for a stop. Does nothing while a change is
    /// in progress.
    func interruptUnlessChange() {
        waiting.withLock { waiting in
            if case .answerWith(let response) = waiting.onStop { _ = accept(response, &waiting) }
        }
    }

    /// The same, and answers ``outcomeUnknown`` where a change is in progress.
    func interrupt() {
        interruptUnlessChange()
        reply(Self.outcomeUnknown)
    }

    /// On the connection's thread, after the handler's closure has returned.
    /// - Returns: the reply, if it has come; otherwise nil, with the connection suspended.
    func replyOrSuspend() -> Response? {
        waiting.withLock { waiting in
            if case .open = waiting.state {
                switch (waiting.onStop, suspensions.register(self, isChange: waiting.isChange)) {
                case (_, true):
                    connection.suspend()
                    waiting.state = .suspended
                    return nil
                case (.answerWith(let response), false): _ = accept(response, &waiting)
                case (.wait, false): _ = accept(Self.outcomeUnknown, &waiting)
                }
            }
            guard case .replied(let response) = waiting.state else { return nil }
            waiting.state = .over
            return response
        }
    }

    /// On the connection's thread, after it was resumed: the reply, once.
    func takeReply() -> Response? {
        suspensions.unregister(self)
        return waiting.withLock { waiting in
            guard case .replied(let response) = waiting.state else { return nil }
            waiting.state = .over
            return response
        }
    }

    /// On the connection's thread, when the connection ended before the reply was taken.
    func connectionEnded() {
        if let unsent = takeReply(), case .stream(let stream) = unsent.body { stream.cancel() }
        waiting.withLock { waiting in
            waiting.state = .over
            releaseChange(&waiting)
        }
    }

    /// The answer where it is not known whether a change was made.
    static let outcomeUnknown = RefusalReason.response(
        .internalServerError,
        sentence:
            "The server stopped before it knew whether the change was made. Look whether it was "
            + "before you send it again.")
}

/// The register of everything that may suspend a connection.
///
/// libmicrohttpd aborts the process when it is stopped while a connection is suspended. So a stop closes
/// this register first. Members that wait for a change are interrupted last (``Reply/tryBeginChange()``).
final class Suspensions: Sendable {
    private struct State {
        var members: [ObjectIdentifier: any Interruptible] = [:]
        /// Whether members that wait for a change are refused too.
        var refusesChanges = false
    }
    private let state = Mutex(State())
    // Written under the lock of `state`; read without it only to answer early.
    private let closed = Atomic<Bool>(false)
    private let changes: InFlightCounter

    /// - Parameter changes: counts the changes in progress.
    init(changes: InFlightCounter) {
        self.changes = changes
    }

    /// Whether ``close(milliseconds:)`` was called.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Registers `member` before it suspends; false when the server is stopping and it must not.
    /// - Parameter isChange: it waits for a change that began before.
    func register(_ member: some Interruptible, isChange: Bool = false) -> Bool {
        state.withLock { state in
            if state.refusesChanges || isClosed && !isChange { return false }
            state.members[ObjectIdentifier(member)] = member
            return true
        }
    }

    /// Removes `member`, whose connection will not be suspended again.
    func unregister(_ member: some Interruptible) {
        let key = ObjectIdentifier(member)
        _ = state.withLock { $0.members.removeValue(forKey: key) }
    }

    /// Counts a change that is being made; false when the server is stopping and it must not be made.
    func tryBeginChange() -> Bool {
        state.withLock { _ in
            if isClosed { return false }
            changes.increment()
            return true
        }
    }

    /// Records that a change has ended, made or failed, and that its reply exists.
    func changeEnded() { changes.decrement() }

    /// Closes the register. When it returns, no connection is suspended and none will be.
    ///
    /// 1. Refuse new members that wait for no change, and interrupt those that are there.
    /// 2. Block until no change is in progress, at most `milliseconds`.
    /// 3. Refuse all new members, and interrupt the rest.
    @available(*, noasync)
    func close(milliseconds: Int) {
        let all = state.withLock { state in
            closed.store(true, ordering: .sequentiallyConsistent)
            return Array(state.members.values)
        }
        for member in all { member.interruptUnlessChange() }
        changes.waitUntilZero(milliseconds: milliseconds)
        let rest = state.withLock { state in
            state.refusesChanges = true
            return Array(state.members.values)
        }
        for member in rest { member.interrupt() }
    }
}

/// A holder of a suspended connection, which a stop of the server interrupts.
protocol Interruptible: AnyObject, Sendable {
    /// Resumes the connection if it is suspended, and never suspends it again.
    func interrupt()
    /// The same, but nothing while the connection waits for a change that the handler makes.
    func interruptUnlessChange()
}

extension Interruptible {
    func interruptUnlessChange() { interrupt() }
}
