import HTTPMessage
import Synchronization

/// Carries a ``ByteStream`` into its connection: the connection is suspended while the stream has
/// nothing, resumed by its writer, and the stream is cancelled when the client goes away.
///
/// As in ``ReplyPause``, suspending and resuming happen inside the lock.
final class StreamFeed: Interruptible {
    private enum State {
        case flowing
        /// The connection is suspended; one resume is owed.
        case suspended
        /// The client hung up or the server stops; the connection runs once more, to be closed.
        case cut
        /// The stream was sent to its end.
        case ended
    }
    private let state = Mutex(State.flowing)
    private let sent = Atomic<Int>(0)
    private let stream: ByteStream
    private let connection: ConnectionHandle
    /// Whether it is the answer to a change, for which a stop waits a while.
    private let isChange: Bool

    init(_ stream: ByteStream, connection: ConnectionHandle, isChange: Bool) {
        self.stream = stream
        self.connection = connection
        self.isChange = isChange
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
            switch stream.read(maxBytes: maxBytes, wake: { [weak self] in self?.wake() }) {
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

    private func wake() {
        state.withLock { state in
            guard case .suspended = state else { return }
            state = .flowing
            connection.resume()
        }
    }

    /// The server stops.
    func interrupt() {
        if !isChange { giveUp() }
    }

    /// Ends the sending: the server stops and waits no longer, or the client hung up.
    func giveUp() {
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
