import HTTPMessage
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
    private let state = Mutex(State.open)
    private let connection: ConnectionHandle
    private let suspensions: Suspensions

    init(connection: ConnectionHandle, suspensions: Suspensions) {
        self.connection = connection
        self.suspensions = suspensions
    }

    /// Takes the first reply and resumes the connection if it is suspended. Later ones are dropped.
    func reply(_ response: Response) {
        let isTaken = state.withLock { state in
            switch state {
            case .open:
                state = .replied(response)
                return true
            case .suspended:
                state = .replied(response)
                connection.resume()
                return true
            case .replied, .over: return false
            }
        }
        if !isTaken, case .stream(let stream) = response.body { stream.cancel() }
    }

    /// Stops the waiting with 503.
    func interrupt() { reply(RefusalReason.stopping.response) }

    /// On the connection's thread, after the handler's closure has returned: the reply when it is
    /// here already, else nil with the connection suspended.
    func settle() -> Response? {
        state.withLock { state in
            switch state {
            case .open:
                guard suspensions.enter(self) else {
                    state = .over
                    return RefusalReason.stopping.response
                }
                connection.suspend()
                state = .suspended
                return nil
            case .replied(let response):
                state = .over
                return response
            case .suspended, .over: return nil
            }
        }
    }

    /// On the connection's thread, after it was resumed: the reply, once.
    func take() -> Response? {
        suspensions.leave(self)
        return state.withLock { state in
            guard case .replied(let response) = state else { return nil }
            state = .over
            return response
        }
    }

    /// On the connection's thread, when the connection ended before the reply was taken.
    func end() {
        if let unsent = take(), case .stream(let stream) = unsent.body { stream.cancel() }
        state.withLock { $0 = .over }
    }
}
