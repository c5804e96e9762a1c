import Glibc
import HTTPMessage
import Synchronization

/// What is known of a connection for as long as it lives; libmicrohttpd keeps it for us.
final class ConnectionRecord: Sendable {
    private let descriptor: CInt
    private let localAddress: String
    private let localPort: UInt16
    /// Since which second of the system's uptime the next request is read; 0 while one is answered.
    private let readingSince = Atomic<Int>(ConnectionRecord.now)

    /// Whether the client reads its answer. Looked at only while there is no room for a newcomer.
    private let unread = Mutex(UnreadAnswer())

    /// Whether the request that is read holds memory for its body.
    var holdsBody: Bool {
        get { holdingBody.load(ordering: .relaxed) }
        set { holdingBody.store(newValue, ordering: .relaxed) }
    }
    private let holdingBody = Atomic<Bool>(false)

    /// Whether the line of a request was ever read.
    private let hasRequest = Atomic<Bool>(false)

    /// Asks the socket for its local end.
    init(descriptor: CInt) {
        self.descriptor = descriptor
        let local = SocketAddress(localEndOf: descriptor)
        localAddress =
            local?.family == AF_UNIX ? Connection.unixSocket : local?.text.host ?? ""
        localPort = local?.text.port ?? 0
    }

    /// The connection as a handler on `worker` sees it.
    func connection(worker: Int) -> Connection {
        Connection(localAddress: localAddress, localPort: localPort, worker: worker)
    }

    /// Notes that the line of a request was read.
    func requestBegan() { hasRequest.store(true, ordering: .relaxed) }

    /// Whether bytes came that never became a request. The socket must be open.
    var hasUnreadableRequest: Bool {
        if hasRequest.load(ordering: .relaxed) { return false }
        // A FIN counts as one of the bytes.
        return counts.map { $0.received > 1 } ?? false
    }

    /// The bytes that the other side has taken and sent; nil for a Unix socket.
    private var counts: (taken: UInt64, received: UInt64)? {
        // The kernel's `struct tcp_info`, which only grows at its end; the bytes acknowledged and
        // received stand after 8 single bytes, 24 words and 2 double words.
        var info = [UInt64](repeating: 0, count: 32)
        var size = socklen_t(info.count * 8)
        let result = unsafe getsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &size)
        return result == 0 && size >= 17 * 8 ? (info[15], info[16]) : nil
    }

    /// Since when the client has left its answer unread; nil when it reads, or nothing waits for it.
    /// The socket must be open.
    /// - Parameters:
    ///   - slowestBytes: as many as show that it reads.
    ///   - pauseSeconds: the longest time between two looks that belong together.
    func unreadSince(slowestBytes: UInt64, pauseSeconds: Int) -> Int? {
        var member = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let isWritable = unsafe poll(&member, 1, 0) > 0
        let taken = isWritable ? nil : counts?.taken
        return unread.withLock { unread in
            unread.since(
                now: Self.now, taken: taken, slowestBytes: slowestBytes,
                pauseSeconds: pauseSeconds)
        }
    }

    /// Notes that a request has arrived whole.
    func requestArrived() { readingSince.store(0, ordering: .relaxed) }

    /// Notes that the last request is answered and the next may come.
    func requestEnded() { readingSince.store(Self.now, ordering: .relaxed) }

    /// Cuts the connection when its request takes longer than `seconds`. The socket must be open.
    func cutIfOverdue(seconds: Int) {
        let since = readingSince.load(ordering: .relaxed)
        if since > 0, Self.now - since > seconds { cut() }
    }

    /// Since when a whole request is waited for; nil while one is answered.
    var waitingSince: Int? {
        let since = readingSince.load(ordering: .relaxed)
        return since > 0 ? since : nil
    }

    /// Whether the client has closed its side. The socket must be open.
    var hasClientLeft: Bool { Self.hasClientLeft(descriptor) }

    /// The same for a socket.
    static func hasClientLeft(_ descriptor: CInt) -> Bool {
        // POLLRDHUP, which the C library has only under _GNU_SOURCE.
        let left: Int16 = 0x2000
        var member = pollfd(fd: descriptor, events: left, revents: 0)
        return unsafe poll(&member, 1, 0) > 0
    }

    /// Cuts the connection. The socket must be open.
    func cut() { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// A clock that only goes forward, in whole seconds.
    static var now: Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return max(1, time.tv_sec)
    }
}

/// How long a client has left its answer unread, as far as looks from time to time can tell.
struct UnreadAnswer: Sendable {
    private struct Look {
        /// Since which second too little was taken.
        var since: Int
        /// The bytes that the client had taken then.
        var taken: UInt64
        /// The second of the latest look.
        var latest: Int
    }
    private var look: Look?

    /// Looks once more.
    ///
    /// 1. As long as more can be written, nothing waits.
    /// 2. Otherwise the client has to take some bytes; with so many, the time begins anew.
    /// 3. It begins anew also after a pause between two looks: what the client did in it is not known.
    /// - Parameters:
    ///   - now: a second of a clock that only goes forward.
    ///   - taken: the bytes that the client has taken since the connection began; nil when nothing
    ///     waits for it, or it cannot be told.
    ///   - slowestBytes: as many as show that it reads.
    ///   - pauseSeconds: the longest time between two looks that belong together.
    /// - Returns: since which second; nil when the client reads.
    mutating func since(
        now: Int, taken: UInt64?, slowestBytes: UInt64, pauseSeconds: Int
    ) -> Int? {
        guard let taken else {
            look = nil
            return nil
        }
        var next = Look(since: now, taken: taken, latest: now)
        if let look, taken < look.taken + slowestBytes, now - look.latest <= pauseSeconds {
            (next.since, next.taken) = (look.since, look.taken)
        }
        look = next
        return next.since
    }
}
