private import CMicroHTTPD
import Glibc
import Synchronization

/// Accepts connections and closes useless ones, on one thread of the server. Useless are connections whose
/// client closed its side while its stream was idle, which libmicrohttpd cannot notice since it does not
/// watch suspended connections, and connections whose request does not arrive in time.
///
/// libmicrohttpd 0.9.75 could accept by itself, but its way to stop accepting
/// (`MHD_quiesce_daemon`) races with its threads and then aborts the process.
final class ConnectionReaper: Sendable {
    /// Takes over an accepted socket; false when it could not, and closed the socket.
    typealias Deliver = @Sendable (_ descriptor: CInt, _ peer: SocketAddress) -> Bool

    private struct Watched {
        var isOpen = true
        var nextToken: UInt64 = ConnectionReaper.firstStream
        var streams: [UInt64: StreamFeed] = [:]
    }
    /// A client that has closed its side of the connection. It may read on (RFC 9112, section 9.6).
    private struct HalfClosed {
        /// The bytes of its answer that were sent before `since`.
        var sentBytes: Int
        var since: ContinuousClock.Instant
    }
    /// A token of an event below this is a listener, this one the wake-up, one above it a stream.
    private static let wakeupToken: UInt64 = 1 << 32
    private static let firstStream: UInt64 = wakeupToken + 1

    private let sockets: [ListeningSocket]
    private let limits: Limits
    private let events: EventSet
    private let wakeup: Wakeup
    private let connections = Atomic<Int>(0)
    private let eventStreams = Atomic<Int>(0)
    private let open = OpenConnections()
    private let spare = SpareDescriptor()
    private let isStopping = Atomic<Bool>(false)
    private let hasWaiting = Atomic<Bool>(false)
    private let watched = Mutex(Watched())

    /// Takes the sockets over; ``closeSockets()`` closes them.
    init(_ sockets: [ListeningSocket], limits: Limits) throws(StartFailure) {
        self.sockets = sockets
        self.limits = limits
        guard let events = EventSet() else { throw .noDescriptors }
        guard let wakeup = Wakeup() else {
            events.close()
            throw .noDescriptors
        }
        self.events = events
        self.wakeup = wakeup
        events.add(wakeup.descriptor, .input, token: Self.wakeupToken)
        for (index, socket) in sockets.enumerated() {
            events.add(socket.descriptor, .input, token: UInt64(index))
        }
    }

    deinit {
        events.close()
        wakeup.close()
    }

    /// Accepts and watches until ``stop()``. Runs on the thread that the server made for it.
    ///
    /// 1. Wait for a connection, a hang-up or a wake-up.
    /// 2. Deliver each new connection, while there are fewer than ``Limits/connections``.
    /// 3. At that limit, evict connections (``OpenConnections/evict(for:_:)``). At that limit, or without
    ///    descriptors, switch the listeners off; a connection that closes wakes this thread, and otherwise the
    ///    time-out tries again. Meanwhile each answer closes its connection.
    /// 4. End the endless stream of each client that hung up. End any other once no byte of it was
    ///    sent for ``Limits/halfClosedSeconds``.
    /// 5. ``Limits/overdueChecks`` times in ``Limits/requestSeconds``, cut the requests that take longer.
    @available(*, noasync)
    func run(deliver: Deliver) {
        var isListening = true
        var isShort = false
        var halfClosed: [UInt64: HalfClosed] = [:]
        while !isStopping.load(ordering: .acquiring) {
            open.cutOverdue(seconds: limits.requestSeconds)
            endIdle(&halfClosed)
            let ready = events.wait(
                milliseconds: waitMilliseconds(isShort, hasHalfClosed: !halfClosed.isEmpty))
            isShort = false
            for token in ready {
                if token == Self.wakeupToken {
                    wakeup.clear()
                } else if token < Self.wakeupToken {
                    let hasRoom = accept(from: sockets[Int(token)], deliver: deliver)
                    hasWaiting.store(!hasRoom, ordering: .relaxed)
                    isShort = !hasRoom || isShort
                } else if let feed = stream(token) {
                    if feed.isEndless {
                        feed.interrupt()
                    } else if halfClosed[token] == nil {
                        halfClosed[token] = HalfClosed(sentBytes: feed.sentBytes, since: .now)
                    }
                }
            }
            let wants = !isShort
            if wants != isListening { switchListeners(wants) }
            isListening = wants
        }
    }

    /// Whether connections wait for a place, so that an answer is to close its connection.
    var isCrowded: Bool { hasWaiting.load(ordering: .relaxed) }

    /// Ends ``run(deliver:)``. The sockets are closed by ``closeSockets()`` once its thread has ended.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        wakeup.signal()
    }

    /// Closes the listening sockets and removes all streams, after ``run(deliver:)`` has returned.
    func closeSockets() {
        watched.withLock { $0 = Watched(isOpen: false) }
        for socket in sockets { socket.close() }
    }

    func opened(_ record: ConnectionRecord) { open.insert(record) }

    /// Records that a connection has ended and its socket will be closed.
    func closed(_ record: ConnectionRecord) {
        open.remove(record)
        countClosed()
    }

    /// Evicts the connection that has sent its body for longest, for the memory that the body holds, if that
    /// is at least ``Limits/evictionSeconds``.
    func evictForBody() { open.evictForBody(seconds: limits.evictionSeconds) }

    /// Takes a connection that sends events out of the count of ``Limits/connections``.
    /// - Returns: false where ``Limits/eventStreams`` are sent; then it still counts.
    func beginEvents() -> Bool {
        let before = eventStreams.wrappingAdd(1, ordering: .relaxed).oldValue
        guard before < limits.eventStreams else {
            eventStreams.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        countClosed()
        return true
    }

    /// Counts a connection again, whose events have ended.
    func endEvents() {
        eventStreams.wrappingSubtract(1, ordering: .relaxed)
        connections.wrappingAdd(1, ordering: .relaxed)
    }

    private func countClosed() {
        let before = connections.wrappingSubtract(1, ordering: .relaxed).oldValue
        if before >= limits.connections { wakeup.signal() }
    }

    /// Watches a stream's socket until ``unwatch(_:descriptor:)``; nil when the server is stopping.
    func watch(_ feed: StreamFeed, descriptor: CInt) -> UInt64? {
        watched.withLock { watched in
            guard watched.isOpen else { return nil }
            let token = watched.nextToken
            watched.nextToken += 1
            watched.streams[token] = feed
            events.add(descriptor, .hangUp, token: token)
            return token
        }
    }

    /// Removes a stream. The socket must still be open.
    func unwatch(_ token: UInt64, descriptor: CInt) {
        watched.withLock { watched in
            guard watched.streams.removeValue(forKey: token) != nil else { return }
            events.remove(descriptor)
        }
    }

    private func stream(_ token: UInt64) -> StreamFeed? { watched.withLock { $0.streams[token] } }

    /// The longest wait for an event; none when negative.
    private func waitMilliseconds(_ isShort: Bool, hasHalfClosed: Bool) -> Int {
        if isShort { return limits.acceptRetryMilliseconds }
        guard hasHalfClosed || connections.load(ordering: .relaxed) > 0 else { return -1 }
        let overdueCheck = limits.requestSeconds * 1000 / Limits.overdueChecks
        return hasHalfClosed ? min(limits.halfClosedSeconds * 1000, overdueCheck) : overdueCheck
    }

    /// Ends the streams of half-closed clients of which no byte was sent for ``Limits/halfClosedSeconds``.
    /// Forgets those that have ended.
    private func endIdle(_ halfClosed: inout [UInt64: HalfClosed]) {
        let now = ContinuousClock.now
        for (token, client) in halfClosed {
            guard let feed = stream(token) else {
                halfClosed[token] = nil
                continue
            }
            guard now - client.since >= .seconds(limits.halfClosedSeconds) else { continue }
            if feed.sentBytes == client.sentBytes { feed.interrupt() }
            halfClosed[token] = HalfClosed(sentBytes: feed.sentBytes, since: now)
        }
    }

    private var isBelowLimit: Bool { connections.load(ordering: .relaxed) < limits.connections }

    /// Accepts the connections that wait. Without a file descriptor, answers them 503.
    /// - Returns: false at the limit of connections, and without a file descriptor.
    private func accept(from socket: ListeningSocket, deliver: Deliver) -> Bool {
        if !isBelowLimit {
            open.evict(for: socket.waitingConnections, limits)
            return false
        }
        let reserve = ReservedDescriptors()
        while isBelowLimit {
            var descriptor: CInt = -1
            // accept4 writes at most `size` bytes to the address, which lives until it returns.
            let peer = unsafe SocketAddress { pointer, size in
                descriptor = unsafe accept4(
                    socket.descriptor, pointer, &size,
                    CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue))
                return descriptor
            }
            guard let peer else {
                switch errno {
                case EINTR, ECONNABORTED, EPROTO: continue
                case EMFILE, ENFILE:
                    refuseWaiting(at: socket)
                    return false
                case ENOBUFS, ENOMEM: return false
                default: return true
                }
            }
            if reserve.contains(descriptor) {
                SpareDescriptor.refuse(descriptor)
                return false
            }
            connections.wrappingAdd(1, ordering: .relaxed)
            if !deliver(descriptor, peer) { countClosed() }
        }
        return true
    }

    /// Answers waiting clients 503, at most as many as there may be connections.
    private func refuseWaiting(at socket: ListeningSocket) {
        var left = limits.connections
        while left > 0, spare.acceptAndRefuse(at: socket) { left -= 1 }
    }

    private func switchListeners(_ isOn: Bool) {
        for (index, socket) in sockets.enumerated() {
            events.change(socket.descriptor, isOn ? .input : .none, token: UInt64(index))
        }
    }
}

/// A descriptor that is held in reserve. When the system gives no more, it is closed, so that a waiting
/// client can be accepted and answered.
final class SpareDescriptor: Sendable {
    private let descriptor = Mutex<CInt>(SpareDescriptor.take())

    deinit { descriptor.withLock { descriptor in if descriptor >= 0 { close(descriptor) } } }

    // open does not keep the path.
    private static func take() -> CInt { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

    /// Accepts one connection in the place of the spare descriptor, answers it 503, and closes it.
    /// - Returns: false when no connection waits, or the descriptor was lost to another thread.
    @available(*, noasync)
    func acceptAndRefuse(at socket: ListeningSocket) -> Bool {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            defer { descriptor = Self.take() }
            // Without an address to fill, accept4 writes nothing.
            let client = accept4(
                socket.descriptor, nil, nil,
                CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue))
            guard client >= 0 else { return false }
            Self.refuse(client)
            return true
        }
    }

    /// Answers the client of a socket 503, and closes the socket. The bytes that have arrived are read first:
    /// closing a socket with unread bytes resets the connection, and the client may lose the answer.
    @available(*, noasync)
    static func refuse(_ client: CInt) {
        defer { close(client) }
        var waiting = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
        // poll writes to the one struct that it is given; recv and send get the length of their buffer.
        _ = unsafe poll(&waiting, 1, CInt(Limits.refusedRequestMilliseconds))
        var sent = [UInt8](repeating: 0, count: Limits.refusedRequestBytes)
        _ = unsafe sent.withUnsafeMutableBytes { bytes in
            unsafe recv(client, bytes.baseAddress, bytes.count, 0)
        }
        _ = unsafe Self.answer.withUnsafeBytes { bytes in
            unsafe send(client, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        }
        shutdown(client, CInt(SHUT_WR))
    }

    private static let answerBody = #"{"error":"The system gives no more files; come again"}"#

    private static let answer = Array(
        """
        HTTP/1.1 503 Service Unavailable\r
        Retry-After: \(Limits.retryAfterSeconds)\r
        Content-Type: application/json\r
        Connection: close\r
        Content-Length: \(answerBody.utf8.count)\r
        \r
        \(answerBody)
        """.utf8)
}

/// The last descriptors that the limit of the process allows. Connections do not take them, since a library
/// may need one: libdispatch opens a file once a second while work waits, and ends the process if it cannot.
struct ReservedDescriptors {
    private let first: UInt?

    /// Reads the limit as it is now.
    init() {
        var limit = rlimit()
        // getrlimit fills the one struct that it is given.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            first = nil
            return
        }
        let count = UInt(limit.rlim_cur)
        first = count > Limits.reservedDescriptors ? count - Limits.reservedDescriptors : 0
    }

    /// Whether a new descriptor is one of the last. The system gives the lowest number that is free.
    func contains(_ descriptor: CInt) -> Bool { first.map { descriptor >= $0 } ?? false }
}
