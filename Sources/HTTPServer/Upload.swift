import HTTPMessage
import Synchronization

/// A request's body on its way to a handler that takes it as it arrives. Not Sendable: it lives on its
/// connection's thread.
final class Upload {
    /// Where the body goes.
    let stream: ByteStream
    /// What the handler's reply waits in.
    let pause: ReplyPause
    /// What holds the connection while the handler is behind.
    let hold: UploadHold
    /// How many more bytes the body may have.
    var leftBytes: Int

    init(stream: ByteStream, pause: ReplyPause, hold: UploadHold, leftBytes: Int) {
        self.stream = stream
        self.pause = pause
        self.hold = hold
        self.leftBytes = leftBytes
    }
}

/// Holds a connection suspended while the reader of its request's body is behind.
///
/// As in ``ReplyPause``, suspending and resuming happen inside the lock.
final class UploadHold: Interruptible {
    private enum State {
        case flowing
        /// The connection is suspended; one resume is owed.
        case suspended
        /// The server stops; nothing is suspended any more.
        case over
    }
    private let state = Mutex(State.flowing)
    private let connection: ConnectionHandle

    init(connection: ConnectionHandle) {
        self.connection = connection
    }

    /// On the connection's thread: suspends until `stream` has room. False when the server stops.
    func wait(for stream: ByteStream) -> Bool {
        let waits = state.withLock { state in
            guard case .flowing = state else { return false }
            connection.suspend()
            state = .suspended
            return true
        }
        if waits { stream.onRoom { [self] in goOn(.flowing) } }
        return waits
    }

    /// The server stops.
    func interrupt() { goOn(.over) }

    private func goOn(_ next: State) {
        state.withLock { state in
            if case .suspended = state { connection.resume() }
            if case .over = state { return }
            state = next
        }
    }
}
