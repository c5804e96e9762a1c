import HTTPMessage

/// What is known of a connection for as long as it lives; libmicrohttpd keeps it for us.
final class ConnectionNote: Sendable {
    private let localAddress: String
    private let localPort: UInt16

    /// Asks the socket for its local end.
    init(descriptor: CInt) {
        let local = SocketAddress(localEndOf: descriptor)?.text
        localAddress = local?.host ?? ""
        localPort = local?.port ?? 0
    }

    /// The connection as a handler on `worker` sees it.
    func connection(worker: Int) -> Connection {
        Connection(localAddress: localAddress, localPort: localPort, worker: worker)
    }
}
