import Glibc

/// The requests of each host: those that have a slot, and those that wait for one in order of arrival.
///
/// libcurl has a queue of its own behind `CURLMOPT_MAX_HOST_CONNECTIONS`. There the connect time runs while a
/// request waits behind slow ones, and a wait has no end of its own.
struct RequestQueue {
    /// A request that waits.
    struct Entry: Equatable {
        var id: UInt64
        var host: String
        var deadline: ContinuousClock.Instant
    }

    private let limitPerHost: Int
    private let pausedLimit: Int
    private var running: [String: Int] = [:]
    /// Requests without a slot, whose transfers wait for their callers. The one that has been paused for
    /// longest is the first.
    private(set) var paused: [UInt64] = []
    /// In order of arrival, which is that of the deadlines too: all requests have the same time.
    private(set) var waiting: [Entry] = []

    init(limitPerHost: Int, pausedLimit: Int) {
        self.limitPerHost = max(1, limitPerHost)
        self.pausedLimit = max(1, pausedLimit)
    }

    mutating func enqueue(_ entry: Entry) {
        waiting.append(entry)
    }

    /// Removes the first entry whose host has a free slot, and gives it the slot.
    /// - Returns: its id; nil when there is none.
    mutating func startNext() -> UInt64? {
        guard let index = waiting.firstIndex(where: { running[$0.host, default: 0] < limitPerHost })
        else { return nil }
        let entry = waiting.remove(at: index)
        running[entry.host, default: 0] += 1
        return entry.id
    }

    /// Removes the first entry if its deadline has passed.
    /// - Returns: its id; nil when there is none.
    mutating func removeExpired(at now: ContinuousClock.Instant) -> UInt64? {
        guard let first = waiting.first, first.deadline <= now else { return nil }
        return waiting.removeFirst().id
    }

    /// Removes an entry; false when it does not wait.
    mutating func removeWaiting(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Records that a request is paused, and frees its slot.
    /// - Returns: the request to give up when too many are paused. The caller releases it.
    mutating func pause(_ id: UInt64, host: String) -> UInt64? {
        if paused.contains(id) {
            noteProgress(id)
            return nil
        }
        freeSlot(of: host)
        paused.append(id)
        return paused.count > pausedLimit ? paused.first : nil
    }

    /// Records that a paused request has gone on.
    mutating func noteProgress(_ id: UInt64) {
        guard let index = paused.firstIndex(of: id) else { return }
        paused.append(paused.remove(at: index))
    }

    /// Removes a request that has a slot or is paused.
    mutating func release(_ id: UInt64, host: String) {
        if let index = paused.firstIndex(of: id) {
            paused.remove(at: index)
        } else {
            freeSlot(of: host)
        }
    }

    private mutating func freeSlot(of host: String) {
        running[host] = running[host].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}

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
