import HTTPMessage
import Synchronization

/// A request's body that goes to its handler as it arrives. Not Sendable: only the connection's thread uses
/// it.
final class Upload {
    /// Where the body goes.
    let stream: ByteStream
    /// The wait for the handler's reply.
    let pause: ReplyPause
    /// Suspends the connection while `stream` is full.
    let backpressure: UploadBackpressure
    /// How many more bytes the body may have.
    var leftBytes: Int

    init(
        stream: ByteStream, pause: ReplyPause, backpressure: UploadBackpressure, leftBytes: Int
    ) {
        self.stream = stream
        self.pause = pause
        self.backpressure = backpressure
        self.leftBytes = leftBytes
    }
}

/// Suspends a connection while the stream of its request's body is full.
///
/// As in ``ReplyPause``, suspending and resuming happen inside the lock.
final class UploadBackpressure: Interruptible {
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

    /// On the connection's thread: suspends the connection until `stream` can be written.
    /// - Returns: false when the server stops; then nothing is suspended.
    func suspend(until stream: ByteStream) -> Bool {
        let isSuspended = state.withLock { state in
            guard case .flowing = state else { return false }
            connection.suspend()
            state = .suspended
            return true
        }
        if isSuspended { stream.onWritable { [self] in resume(.flowing) } }
        return isSuspended
    }

    func interrupt() { resume(.over) }

    private func resume(_ next: State) {
        state.withLock { state in
            if case .suspended = state { connection.resume() }
            if case .over = state { return }
            state = next
        }
    }
}
