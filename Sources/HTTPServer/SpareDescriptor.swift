private import CMicroHTTPD
import Glibc
import Synchronization

/// A descriptor that is kept for the moment when the system gives no more: with it a client that waits is
/// told to come again, instead of hanging without a word.
final class SpareDescriptor: Sendable {
    private let descriptor = Mutex<CInt>(SpareDescriptor.take())

    deinit { descriptor.withLock { descriptor in if descriptor >= 0 { close(descriptor) } } }

    // The path is lent to open for the call alone.
    private static func take() -> CInt { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

    /// Accepts one connection in the place of the spare descriptor, answers it 503, and closes it. What the
    /// client has sent is read first as far as it is here: closing a socket with unread bytes takes the
    /// answer back.
    /// - Returns: false when no connection waits, or the descriptor was lost to another thread.
    @available(*, noasync)
    func turnAway(from socket: ListeningSocket) -> Bool {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            defer { descriptor = Self.take() }
            // Nothing is asked about the peer, so there is nothing to be filled.
            let client = accept4(
                socket.descriptor, nil, nil,
                CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue))
            guard client >= 0 else { return false }
            defer { close(client) }
            var waiting = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
            // One struct, as the count says; the buffers are as long as they are said to be.
            _ = unsafe poll(&waiting, 1, CInt(Limits.turnedAwayMilliseconds))
            var sent = [UInt8](repeating: 0, count: Limits.turnedAwayBytes)
            _ = unsafe sent.withUnsafeMutableBytes { bytes in
                unsafe recv(client, bytes.baseAddress, bytes.count, 0)
            }
            _ = unsafe Self.answer.withUnsafeBytes { bytes in
                unsafe send(client, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            }
            shutdown(client, CInt(SHUT_WR))
            return true
        }
    }

    private static let answer = Array(
        """
        HTTP/1.1 503 Service Unavailable\r
        Retry-After: 5\r
        Content-Type: application/json\r
        Connection: close\r
        Content-Length: 54\r
        \r
        {"error":"The system gives no more files; come again"}
        """.utf8)
}
