private import CMicroHTTPD
import Glibc
import Synchronization

/// Accepts connections, gives them to libmicrohttpd while it has places, and closes useless ones, on one thread of
/// the server. Useless are connections whose client closed its side while its stream was idle, which libmicrohttpd
/// cannot notice since it does not watch suspended connections, and connections whose request does not arrive in
/// time.
///
/// Of the places of ``Limits/connections`` any connection gets one of the first half. A whole request gets any
/// (``WaitingConnections``), and one of which much has arrived any but the last quarter. In the last eighth each answer
/// closes its connection. So requests that do not arrive leave places to those that do.
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
    /// A token of an event below this is a listener, this one the wake-up, one above it a stream, and from
    /// ``WaitingConnections/firstToken`` on a connection that waits.
    private static let wakeupToken: UInt64 = 1 << 32
    private static let firstStream: UInt64 = wakeupToken + 1

    private let sockets: [ListeningSocket]
    private let limits: Limits
    private let isSecure: Bool
    private let events: EventSet
    private let wakeup: Wakeup
    private let connections = Atomic<Int>(0)
    private let eventStreams = Atomic<Int>(0)
    private let open = OpenConnections()
    private let isStopping = Atomic<Bool>(false)
    private let hasWaiting = Atomic<Bool>(false)
    private let watched = Mutex(Watched())

    /// Takes the sockets over; ``closeSockets()`` closes them.
    init(
        _ sockets: [ListeningSocket], limits: Limits, isSecure: Bool
    ) throws(StartFailure) {
        self.sockets = sockets
        self.limits = limits
        self.isSecure = isSecure
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
    /// 1. Wait for a connection, bytes, a hang-up or a wake-up.
    /// 2. Accept each new connection. It is delivered, or waits for its request and a place.
    /// 3. Deliver those that may have a place. If more wait, evict others (``OpenConnections/evict(for:whole:_:)``).
    /// 4. Without descriptors, switch the listeners off until the time-out.
    /// 5. End the endless stream of each client that hung up. End any other once no byte of it was
    ///    sent for ``Limits/halfClosedSeconds``.
    /// 6. ``Limits/overdueChecks`` times in ``Limits/requestSeconds``, cut the requests that take longer.
    @available(*, noasync)
    func run(deliver: Deliver) {
        var isListening = true
        var halfClosed: [UInt64: HalfClosed] = [:]
        var waiting = WaitingConnections(events, isSecure: isSecure)
        var lastCheck = 0
        while !isStopping.load(ordering: .acquiring) {
            if ConnectionRecord.now - lastCheck >= limits.acceptRetryMilliseconds {
                lastCheck = ConnectionRecord.now
                open.cutOverdue(seconds: limits.requestSeconds)
                waiting.cutOverdue(seconds: limits.requestSeconds)
                if waiting.pressing > 0 {
                    open.evict(for: waiting.pressing, whole: waiting.wholeCount, limits)
                }
            }
            endIdle(&halfClosed)
            let isShortNow = !isListening || waiting.pressing > 0
            let ready = events.wait(
                milliseconds: waitMilliseconds(
                    isShortNow, hasHalfClosed: !halfClosed.isEmpty, waiting.count))
            var isShort = false
            for token in ready {
                if token == Self.wakeupToken {
                    wakeup.clear()
                } else if token < Self.wakeupToken {
                    let mayGoOn = accept(from: sockets[Int(token)], &waiting, deliver: deliver)
                    isShort = !mayGoOn || isShort
                } else if token >= WaitingConnections.firstToken {
                    waiting.look(at: token)
                } else if let feed = stream(token) {
                    if feed.isEndless {
                        feed.interrupt()
                    } else if halfClosed[token] == nil {
                        halfClosed[token] = HalfClosed(sentBytes: feed.sentBytes, since: .now)
                    }
                }
            }
            while let next = waiting.next(places: connections.load(ordering: .relaxed), limits) {
                place(next.descriptor, next.peer, deliver)
            }
            hasWaiting.store(waiting.pressing > 0, ordering: .relaxed)
            if isListening == isShort { switchListeners(!isShort) }
            isListening = !isShort
        }
        waiting.closeAll()
    }

    /// Whether an answer is to close its connection, so that others find a place.
    var isCrowded: Bool {
        connections.load(ordering: .relaxed) > limits.keptConnections
    }

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
        connections.wrappingSubtract(1, ordering: .relaxed)
        if hasWaiting.load(ordering: .relaxed) { wakeup.signal() }
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
    private func waitMilliseconds(
        _ isShort: Bool, hasHalfClosed: Bool, _ waiting: Int
    ) -> Int {
        if isShort { return limits.acceptRetryMilliseconds }
        guard hasHalfClosed || connections.load(ordering: .relaxed) + waiting > 0 else { return -1 }
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

    /// Accepts connections that wait in the kernel's queue, some at once. Where descriptors are short it closes those
    /// whose requests are slow; if there are none, the connection is answered 503.
    /// - Returns: false without a file descriptor, and where no more can wait.
    private func accept(
        from socket: ListeningSocket, _ waiting: inout WaitingConnections, deliver: Deliver
    ) -> Bool {
        let reserve = ReservedDescriptors()
        let most = min(limits.waitingConnections, reserve.allowed / Limits.waitingPart)
        for _ in 0..<Limits.eventsAtOnce {
            guard waiting.count < most || waiting.evict() else { return false }
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
                case EINTR, ECONNABORTED, EPROTO: break
                case EMFILE, ENFILE: if !waiting.evict() { return false }
                case ENOBUFS, ENOMEM: return false
                default: return true
                }
                continue
            }
            if reserve.contains(descriptor) {
                let free = waiting.evict() ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1
                guard free >= 0, !reserve.contains(free) else {
                    if free >= 0 { close(free) }
                    Self.refuse(descriptor)
                    return false
                }
                close(descriptor)
                descriptor = free
            }
            if connections.load(ordering: .relaxed) < limits.unseenConnections,
                waiting.pressing == 0
            {
                place(descriptor, peer, deliver)
            } else {
                waiting.add(descriptor, peer)
            }
        }
        return true
    }

    private func place(_ descriptor: CInt, _ peer: SocketAddress, _ deliver: Deliver) {
        connections.wrappingAdd(1, ordering: .relaxed)
        if !deliver(descriptor, peer) { countClosed() }
    }

    private func switchListeners(_ isOn: Bool) {
        for (index, socket) in sockets.enumerated() {
            events.change(socket.descriptor, isOn ? .input : .none, token: UInt64(index))
        }
    }
}

extension ConnectionReaper {
    /// Answers the client of a socket 503, and closes the socket. The bytes that have arrived are read first:
    /// closing a socket with unread bytes resets the connection, and the client may lose the answer.
    @available(*, noasync)
    private static func refuse(_ client: CInt) {
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
    /// The descriptors that the process may have.
    let allowed: Int
    private let first: Int

    /// Reads the limit as it is now.
    init() {
        var limit = rlimit()
        // getrlimit fills the one struct that it is given.
        let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        allowed = isKnown ? Int(clamping: limit.rlim_cur) : .max
        first = max(0, allowed - Limits.reservedDescriptors)
    }

    /// Whether a new descriptor is one of the last. The system gives the lowest number that is free.
    func contains(_ descriptor: CInt) -> Bool { descriptor >= first }
}
