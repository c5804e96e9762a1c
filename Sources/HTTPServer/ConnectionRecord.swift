import Glibc
import HTTPMessage
import Synchronization

/// The state of a connection, from its start to its end. libmicrohttpd keeps the reference.
///
/// `unsafe`: each system call gets one struct that lives until the call returns, and its true size.
final class ConnectionRecord: Sendable {
    private let descriptor: CInt
    private let localAddress: String
    private let localPort: UInt16
    private let peerAddress: String
    private let number = ConnectionRecord.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    private static let lastNumber = Atomic<UInt64>(0)
    /// The millisecond of the monotonic clock since which the next request is read; 0 while one is answered.
    private let readingSince = Atomic<Int>(ConnectionRecord.now)

    /// How long the answer has been unread. Updated only at the limit of connections.
    private let unread = Mutex(UnreadAnswer())

    /// Whether the request that is read holds memory for its body.
    var holdsBody: Bool {
        get { holdingBody.load(ordering: .relaxed) }
        set { holdingBody.store(newValue, ordering: .relaxed) }
    }
    private let holdingBody = Atomic<Bool>(false)

    /// Whether the line of a request was ever read.
    private let hasRequest = Atomic<Bool>(false)
    /// Whether that of the next request was read.
    private let hasBegun = Atomic<Bool>(false)

    /// Reads the addresses of both ends of the socket.
    init(descriptor: CInt) {
        self.descriptor = descriptor
        let local = SocketAddress(localEndOf: descriptor)
        localAddress =
            local?.family == AF_UNIX ? Connection.unixSocket : local?.text.host ?? ""
        localPort = local?.text.port ?? 0
        peerAddress = SocketAddress(farEndOf: descriptor)?.text.host ?? ""
    }

    /// The connection as a handler on `worker` sees it.
    func connection(worker: Int) -> Connection {
        Connection(
            localAddress: localAddress, localPort: localPort, peerAddress: peerAddress,
            worker: worker, number: number)
    }

    /// Records that the line of a request was read.
    func requestBegan() {
        hasRequest.store(true, ordering: .relaxed)
        hasBegun.store(true, ordering: .relaxed)
    }

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

    /// The second since which the client has left its answer unread; nil when it reads, or nothing waits for
    /// it. The socket must be open.
    /// - Parameters: as those of ``UnreadAnswer/since(now:taken:minimumBytes:pauseSeconds:)``.
    func unreadSince(minimumBytes: UInt64, pauseSeconds: Int) -> Int? {
        var member = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let isWritable = unsafe poll(&member, 1, 0) > 0
        let taken = isWritable ? nil : counts?.taken
        return unread.withLock { unread in
            unread.since(
                now: Self.now / 1000, taken: taken, minimumBytes: minimumBytes,
                pauseSeconds: pauseSeconds)
        }
    }

    func requestArrived() { readingSince.store(0, ordering: .relaxed) }

    /// Records that the last request is answered and the next may come.
    func requestEnded() {
        hasBegun.store(false, ordering: .relaxed)
        readingSince.store(Self.now, ordering: .relaxed)
    }

    /// Cuts the connection when its request takes longer than `seconds`. The socket must be open.
    func cutIfOverdue(seconds: Int) {
        let since = readingSince.load(ordering: .relaxed)
        if since > 0, Self.now - since > seconds * 1000 { cut() }
    }

    /// Whether requests were answered and, as far as is known, no next one has begun.
    var isIdle: Bool {
        hasRequest.load(ordering: .relaxed) && !hasBegun.load(ordering: .relaxed)
    }

    /// The millisecond since which the next request is read; nil while one is answered.
    var waitingSince: Int? {
        let since = readingSince.load(ordering: .relaxed)
        return since > 0 ? since : nil
    }

    /// Whether the client has closed its side. The socket must be open.
    var hasPeerClosed: Bool { Self.hasPeerClosed(descriptor) }

    /// The same for a socket.
    static func hasPeerClosed(_ descriptor: CInt) -> Bool {
        // POLLRDHUP, which the C library has only under _GNU_SOURCE.
        let peerClosed: Int16 = 0x2000
        var member = pollfd(fd: descriptor, events: peerClosed, revents: 0)
        return unsafe poll(&member, 1, 0) > 0
    }

    /// Cuts the connection. The socket must be open.
    func cut() { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// The monotonic clock in milliseconds, at least 1.
    static var now: Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return max(1, time.tv_sec * 1000 + time.tv_nsec / 1_000_000)
    }
}

/// How long a client has left its answer unread, estimated from samples.
struct UnreadAnswer: Sendable {
    private struct Sample {
        /// The second since which the client has taken too little.
        var since: Int
        /// The bytes that the client had taken then.
        var taken: UInt64
        /// The second of the latest sample.
        var latest: Int
    }
    private var last: Sample?

    /// Takes a sample.
    ///
    /// 1. While more can be written, nothing is unread.
    /// 2. Otherwise the time begins anew whenever the client has taken `minimumBytes`.
    /// 3. It also begins anew after a gap between two samples: what the client did in it is not known.
    /// - Parameters:
    ///   - now: a second of the monotonic clock.
    ///   - taken: the bytes that the client has taken since the connection began; nil when nothing
    ///     waits for it, or the number is not known.
    ///   - minimumBytes: how many bytes show that the client reads.
    ///   - pauseSeconds: the longest gap between two samples, in seconds.
    /// - Returns: the second since which the answer is unread; nil when the client reads.
    mutating func since(
        now: Int, taken: UInt64?, minimumBytes: UInt64, pauseSeconds: Int
    ) -> Int? {
        guard let taken else {
            last = nil
            return nil
        }
        var next = Sample(since: now, taken: taken, latest: now)
        if let last, taken < last.taken + minimumBytes, now - last.latest <= pauseSeconds {
            (next.since, next.taken) = (last.since, last.taken)
        }
        last = next
        return next.since
    }
}

/// The connections that are open, each until right before its socket is closed.
final class OpenConnections: Sendable {
    private let records = Mutex<[ObjectIdentifier: ConnectionRecord]>([:])

    func insert(_ record: ConnectionRecord) {
        records.withLock { $0[ObjectIdentifier(record)] = record }
    }

    func remove(_ record: ConnectionRecord) {
        _ = records.withLock { $0.removeValue(forKey: ObjectIdentifier(record)) }
    }

    /// Closes connections, so that others get their places:
    /// 1. of those that wait for a whole request, all whose client has closed its side. libmicrohttpd sees an
    ///    end that came together with the last bytes only when its idle time is over.
    /// 2. If there are none: those that have waited for ``Limits/evictionSeconds``, requests that arrive slowly before
    ///    idle connections, and of each kind those first that have waited longest.
    /// 3. If there is none either: those whose client has taken fewer than ``Limits/evictionBytes`` of its
    ///    answer in that time.
    /// - Parameters:
    ///   - count: how many are closed at most by the second rule.
    ///   - whole: how many of them may be idle while other requests arrive. Such a one leaves its place soon.
    func evict(for count: Int, whole: Int, _ limits: Limits) {
        let latest = ConnectionRecord.now - limits.evictionSeconds * 1000
        records.withLock { records in
            let waiting = records.values.compactMap { record in
                record.waitingSince.map {
                    (isIdle: record.isIdle ? 1 : 0, since: $0, record: record)
                }
            }
            let gone = waiting.filter { $0.record.hasPeerClosed }
            for connection in gone { connection.record.cut() }
            if !gone.isEmpty { return }
            let slow = waiting.filter { $0.since <= latest }
                .sorted { ($0.isIdle, $0.since) < ($1.isIdle, $1.since) }
            let idle = waiting.contains { $0.isIdle == 0 } ? whole : count
            let most = max(idle, min(count, slow.count { $0.isIdle == 0 }))
            for connection in slow.prefix(most) { connection.record.cut() }
            if most > 0, !slow.isEmpty { return }
            for record in records.values where record.waitingSince == nil {
                let since = record.unreadSince(
                    minimumBytes: UInt64(limits.evictionBytes),
                    pauseSeconds: limits.evictionSeconds)
                if let since, since <= latest / 1000 { record.cut() }
            }
        }
    }

    /// Closes a connection, so that its memory serves another body: of those that hold memory for a body and
    /// wait for the rest of it, the one that has waited longest, if it has waited for `seconds`.
    func evictForBody(seconds: Int) {
        let latest = ConnectionRecord.now - seconds * 1000
        records.withLock { records in
            let waiting = records.values.filter(\.holdsBody).compactMap { record in
                record.waitingSince.map { (since: $0, record: record) }
            }
            guard let longest = waiting.min(by: { $0.since < $1.since }), longest.since <= latest
            else { return }
            longest.record.cut()
        }
    }

    /// Cuts the connections whose request takes longer than `seconds`.
    ///
    /// This happens under the lock: otherwise a socket could be closed meanwhile, and its number given to
    /// another connection.
    func cutOverdue(seconds: Int) {
        records.withLock { records in
            for record in records.values { record.cutIfOverdue(seconds: seconds) }
        }
    }
}
