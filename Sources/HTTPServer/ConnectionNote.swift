import Glibc
import HTTPMessage
import Synchronization

/// What is known of a connection for as long as it lives; libmicrohttpd keeps it for us.
final class ConnectionNote: Sendable {
    private let descriptor: CInt
    private let localAddress: String
    private let localPort: UInt16
    /// Since which second of the system's uptime the next request is read; 0 while one is answered.
    private let readingSince = Atomic<Int>(ConnectionNote.now)

    /// Asks the socket for its local end.
    init(descriptor: CInt) {
        self.descriptor = descriptor
        let local = SocketAddress(localEndOf: descriptor)?.text
        localAddress = local?.host ?? ""
        localPort = local?.port ?? 0
    }

    /// The connection as a handler on `worker` sees it.
    func connection(worker: Int) -> Connection {
        Connection(localAddress: localAddress, localPort: localPort, worker: worker)
    }

    /// Notes that a request has arrived whole.
    func requestArrived() { readingSince.store(0, ordering: .relaxed) }

    /// Notes that the last request is answered and the next may come.
    func requestEnded() { readingSince.store(Self.now, ordering: .relaxed) }

    /// Cuts the connection when its request takes longer than `seconds`. The socket must be open.
    func cutIfOverdue(seconds: Int) {
        let since = readingSince.load(ordering: .relaxed)
        if since > 0, Self.now - since > seconds { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }
    }

    private static var now: Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return max(1, time.tv_sec)
    }
}
