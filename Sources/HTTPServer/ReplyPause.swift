import HTTPMessage
import HTTPTypes
import Synchronization

/// The time between a handler's `.later` and its reply, whichever thread the reply comes from.
///
/// Suspending and resuming happen inside the lock, so whoever holds the lock next finds either a
/// running or a suspended connection, never one in between. libmicrohttpd takes no lock of ours
/// while it holds its own.
final class ReplyPause: Interruptible {
    private enum State {
        /// The handler's closure runs on the connection's thread; nothing is suspended.
        case open
        /// The connection is suspended; one resume is owed.
        case suspended
        /// The reply is here and the connection runs.
        case replied(Response)
        /// The reply was taken, or the connection has ended.
        case over
    }
    /// What a stop does to the waiting.
    private enum Stop {
        /// Ends it with this answer.
        case answers(Response)
        /// Lets it go on: a change is being made, and the suspensions count it.
        case waits
    }
    private struct Waiting {
        var state = State.open
        var stop = Stop.answers(RefusalReason.stopping.response)
        var isChange: Bool { if case .waits = stop { true } else { false } }
    }
    private let waiting = Mutex(Waiting())
    private let connection: ConnectionHandle
    private let suspensions: Suspensions

    init(connection: ConnectionHandle, suspensions: Suspensions) {
        self.connection = connection
        self.suspensions = suspensions
    }

    /// Takes the first reply and resumes the connection if it is suspended. Later ones are dropped.
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
        // The last copy of a reply answers once more when it goes.
        case .replied, .over: return false
        }
        // A body that is still to come belongs to the answer that the stop waits for.
        if case .stream = response.body { return true }
        endChange(&waiting)
        return true
    }

    private func endChange(_ waiting: inout Waiting) {
        guard case .waits = waiting.stop else { return }
        waiting.stop = .answers(RefusalReason.stopping.response)
        suspensions.changeEnded()
    }

    /// Whether a stop waits for the reply, or for the rest of its body.
    var isChange: Bool { waiting.withLock { $0.isChange } }

    /// The answer was sent, or cannot be.
    func sent() { waiting.withLock { endChange(&$0) } }

    /// Lets a stop wait for the reply. False when the request is answered or the server stops.
    func beginsChange() -> Bool {
        waiting.withLock { waiting in
            switch waiting.state {
            case .open, .suspended: break
            case .replied, .over: return false
            }
            guard case .answers(let response) = waiting.stop else { return true }
            guard suspensions.beginsChange() else {
                _ = accept(response, &waiting)
                return false
            }
            waiting.stop = .waits
            return true
        }
    }

    /// Lets a stop answer so from now on, or at once where one is under way.
    func changed(_ response: Response) {
        waiting.withLock { waiting in
            guard case .waits = waiting.stop else { return }
            if suspensions.isClosed {
                _ = accept(response, &waiting)
            } else {
                endChange(&waiting)
                waiting.stop = .answers(response)
            }
        }
    }

    /// Whether the client has closed its side, or the reply is here.
    var isLeft: Bool {
        waiting.withLock { waiting in
            switch waiting.state {
            // The socket is open: libmicrohttpd closes none that is suspended, and before it closes any
            // other, ``end()`` gets the lock.
            case .open, .suspended: connection.hasClientLeft
            case .replied, .over: true
            }
        }
    }

    /// Stops the waiting with 503, or the answer that the handler left for that; not that for a change.
    func interrupt() {
        waiting.withLock { waiting in
            if case .answers(let response) = waiting.stop { _ = accept(response, &waiting) }
        }
    }

    /// Stops also the waiting for a change, of which it is not known whether it will be made.
    func giveUp() {
        interrupt()
        reply(Self.unknown)
    }

    /// On the connection's thread, after the handler's closure has returned: the reply when it is
    /// here already, else nil with the connection suspended.
    func settle() -> Response? {
        waiting.withLock { waiting in
            if case .open = waiting.state {
                switch (waiting.stop, suspensions.enter(self, isChange: waiting.isChange)) {
                case (_, true):
                    connection.suspend()
                    waiting.state = .suspended
                    return nil
                case (.answers(let response), false): _ = accept(response, &waiting)
                case (.waits, false): _ = accept(Self.unknown, &waiting)
                }
            }
            guard case .replied(let response) = waiting.state else { return nil }
            waiting.state = .over
            return response
        }
    }

    /// On the connection's thread, after it was resumed: the reply, once.
    func take() -> Response? {
        suspensions.leave(self)
        return waiting.withLock { waiting in
            guard case .replied(let response) = waiting.state else { return nil }
            waiting.state = .over
            return response
        }
    }

    /// On the connection's thread, when the connection ended before the reply was taken.
    func end() {
        if let unsent = take(), case .stream(let stream) = unsent.body { stream.cancel() }
        waiting.withLock { waiting in
            waiting.state = .over
            endChange(&waiting)
        }
    }

    /// The answer to a change of which it is not known here whether it was made.
    static let unknown = RefusalReason.response(
        .internalServerError,
        sentence:
            "The server stopped before it knew whether the change was made. Look whether it was "
            + "before you send it again.")
}
