import HTTPMessage
import HTTPTypes
import Synchronization

/// Sends a ``ByteStream`` to its connection. The connection is suspended while the stream is empty, and a
/// write resumes it. The stream is cancelled when the client closes the connection: at once where it has no
/// end, otherwise once no byte of it was sent for ``Limits/halfClosedSeconds``.
///
/// As in ``ReplyPause``, suspending and resuming happen inside the lock.
final class StreamFeed: Interruptible {
    private enum State {
        case flowing
        /// The connection is suspended; one resume is owed.
        case suspended
        /// The client closed the connection or the server stops; the connection runs once more, to be closed.
        case cut
        /// The stream was sent to its end.
        case ended
    }
    private let state = Mutex(State.flowing)
    private let sent = Atomic<Int>(0)
    private let stream: ByteStream
    private let connection: ConnectionHandle
    /// Whether it is the answer to a change; a stop waits for such a one.
    private let isChange: Bool
    /// Whether the stream has no end, so that its client ends it by closing its side of the connection.
    let isEndless: Bool

    init(_ stream: ByteStream, connection: ConnectionHandle, isChange: Bool, isEndless: Bool) {
        self.stream = stream
        self.connection = connection
        self.isChange = isChange
        self.isEndless = isEndless
    }

    /// The bytes that were handed to libmicrohttpd.
    var sentBytes: Int { sent.load(ordering: .relaxed) }

    /// What libmicrohttpd's reader does next.
    enum Next {
        case bytes([UInt8])
        /// The connection is suspended.
        case wait
        case end
        case close
    }

    /// On the connection's thread: up to `maxBytes` bytes, or the connection suspended.
    func next(maxBytes: Int) -> Next {
        state.withLock { state in
            guard case .flowing = state else { return .close }
            switch stream.read(maxBytes: maxBytes, wake: { [weak self] in self?.resume() }) {
            case .bytes(let bytes):
                sent.add(bytes.count, ordering: .relaxed)
                return .bytes(bytes)
            case .end:
                state = .ended
                return .end
            case .failed:
                state = .ended
                return .close
            case .wait:
                connection.suspend()
                state = .suspended
                return .wait
            }
        }
    }

    private func resume() {
        state.withLock { state in
            guard case .suspended = state else { return }
            state = .flowing
            connection.resume()
        }
    }

    func interruptUnlessChange() {
        if !isChange { interrupt() }
    }

    /// Ends the sending: the server stops, or the client closed the connection.
    func interrupt() {
        state.withLock { state in
            switch state {
            case .flowing: state = .cut
            case .suspended:
                state = .cut
                connection.resume()
            case .cut, .ended: break
            }
        }
    }

    /// On the connection's thread, when libmicrohttpd is done with the response.
    func finish() {
        let isWhole = state.withLock { state in
            defer { state = .cut }
            if case .ended = state { return true }
            return false
        }
        if !isWhole { stream.cancel() }
    }
}

extension Response {
    /// Whether the body is a stream of events, which has no end.
    var isEventStream: Bool {
        head.headerFields[.contentType].map { MediaType($0).name == "text/event-stream" } ?? false
    }
}

/// A request's body that goes to its handler as it arrives. Not Sendable: only the connection's thread uses
/// it.
final class Upload {
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
