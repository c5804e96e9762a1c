import Glibc

/// The sockets of the HTTP/1 connections that libcurl keeps for the next request.
///
/// Input that waits on such a connection cannot answer the next request, which was not sent yet. It is a
/// second answer to an earlier request, or the connection's end. libcurl does not look for it, and would
/// take it for the next answer (docs/decisions/requests.md). Only the loop's thread uses this type.
final class KeptConnections {
    /// The local port that each socket had when a transfer on it ended. libcurl does not say when it closes
    /// a socket, whose number may be another one's by now. So the port is compared before a socket is used.
    private var ports: [CInt: UInt16] = [:]

    /// Notes the socket of a transfer that has ended.
    func note(_ socket: CInt) { ports[socket] = Self.localPort(of: socket) }

    /// Forgets a socket whose number another connection has now, one that may always have input.
    func forget(_ socket: CInt) { ports[socket] = nil }

    /// Whether input waits on the connection with this local port. False for one that was not noted.
    func hasInput(localPort: UInt16) -> Bool {
        ports.contains { socket, port in
            port == localPort && Self.localPort(of: socket) == port && Self.hasInput(socket)
        }
    }

    /// The local port of a TCP socket; nil for a number that is none.
    private static func localPort(of socket: CInt) -> UInt16? {
        // The port is at the same place for both families.
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe: a sockaddr_in is passed as the sockaddr that it begins with. getsockname writes at most
        // `size` bytes to it, also for an address that is longer.
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getsockname(socket, generic, &size)
            }
        }
        let family = CInt(address.sin_family)
        guard code == 0, family == AF_INET || family == AF_INET6 else { return nil }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Whether a socket has bytes to read, an end or an error. Does not wait.
    private static func hasInput(_ socket: CInt) -> Bool {
        var member = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        // Safe: poll reads and writes the one struct, which lives until it returns.
        return unsafe poll(&member, 1, 0) > 0
    }
}
