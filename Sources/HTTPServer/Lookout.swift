private import CMicroHTTPD
import Glibc
import Synchronization

/// The server's one thread of its own. It accepts connections; it notices clients that hang up while
/// their stream is idle, which libmicrohttpd cannot since it does not watch suspended connections;
/// and it cuts those whose request does not arrive in time.
///
/// libmicrohttpd 0.9.75 could accept by itself, but its way to stop accepting
/// (`MHD_quiesce_daemon`) races with its threads and then aborts the process.
final class Lookout: Sendable {
    /// Takes an accepted socket over; false when it could not and closed the socket.
    typealias Deliver = @Sendable (_ descriptor: CInt, _ peer: SocketAddress) -> Bool

    private struct Watched {
        var isOpen = true
        var nextToken: UInt64 = Lookout.firstStream
        var streams: [UInt64: StreamFeed] = [:]
    }
    /// Event tokens below this are listeners, this itself is the bell, above are streams.
    private static let bellToken: UInt64 = 1 << 32
    private static let firstStream: UInt64 = bellToken + 1

    private let sockets: [ListeningSocket]
    private let limits: Limits
    private let events: EventSet
    private let bell: Bell
    private let connections = Atomic<Int>(0)
    private let open = OpenConnections()
    private let spare = SpareDescriptor()
    private let isStopping = Atomic<Bool>(false)
    private let watched = Mutex(Watched())

    /// Takes the sockets over; ``closeSockets()`` closes them.
    init(_ sockets: [ListeningSocket], limits: Limits) throws(StartFailure) {
        self.sockets = sockets
        self.limits = limits
        guard let events = EventSet() else { throw .noDescriptors }
        guard let bell = Bell() else {
            events.close()
            throw .noDescriptors
        }
        self.events = events
        self.bell = bell
        events.add(bell.descriptor, .input, token: Self.bellToken)
        for (index, socket) in sockets.enumerated() {
            events.add(socket.descriptor, .input, token: UInt64(index))
        }
    }

    deinit {
        events.close()
        bell.close()
    }

    /// Accepts and watches until ``stop()``. Runs on the thread that the server made for it.
    ///
    /// 1. Wait for a connection, a hang-up or the bell.
    /// 2. Hand each new connection over, as long as there is room.
    /// 3. Without room, cut a connection that waits for a whole request in vain, or those whose
    ///    clients do not read their answers. Without room or descriptors, switch the listeners off; a
    ///    connection that closes rings the bell, and otherwise the time-out tries again.
    /// 4. Cut the stream of each client that hung up.
    /// 5. A few times in the time that a request may take, cut those that take longer.
    @available(*, noasync)
    func run(deliver: Deliver) {
        var isListening = true
        var isShort = false
        while !isStopping.load(ordering: .acquiring) {
            open.cutOverdue(seconds: limits.requestSeconds)
            let hasConnections = connections.load(ordering: .relaxed) > 0
            let ready = events.wait(
                milliseconds: isShort
                    ? limits.acceptRetryMilliseconds
                    : hasConnections ? limits.requestSeconds * 250 : -1)
            isShort = false
            for token in ready {
                if token == Self.bellToken {
                    bell.silence()
                } else if token < Self.bellToken {
                    isShort = !accept(from: sockets[Int(token)], deliver: deliver) || isShort
                } else {
                    hungUp(token)
                }
            }
            let wants = !isShort
            if wants != isListening { listen(wants) }
            isListening = wants
        }
    }

    /// Ends ``run(deliver:)``. The sockets are closed by ``closeSockets()`` once its thread has ended.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        bell.ring()
    }

    /// Closes the listening sockets and forgets all streams, after ``run(deliver:)`` has returned.
    func closeSockets() {
        watched.withLock { $0 = Watched(isOpen: false) }
        for socket in sockets { socket.close() }
    }

    /// Says that a connection has started.
    func opened(_ note: ConnectionNote) { open.insert(note) }

    /// Says that a connection has ended and its socket will be closed.
    func closed(_ note: ConnectionNote) {
        open.remove(note)
        makeRoom()
    }

    /// Cuts a connection whose client does not send the rest of its body, for the memory that it holds.
    func makeRoomForBody() { open.makeRoomForBody(seconds: limits.spareSeconds) }

    private func makeRoom() {
        let before = connections.wrappingSubtract(1, ordering: .relaxed).oldValue
        if before >= limits.connections { bell.ring() }
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

    /// Forgets a stream. The socket must still be open.
    func unwatch(_ token: UInt64, descriptor: CInt) {
        watched.withLock { watched in
            guard watched.streams.removeValue(forKey: token) != nil else { return }
            events.remove(descriptor)
        }
    }

    private func hungUp(_ token: UInt64) {
        watched.withLock { $0.streams[token] }?.giveUp()
    }

    private var hasRoom: Bool { connections.load(ordering: .relaxed) < limits.connections }

    /// Accepts the connections that wait; false when there is no room for one, or no file descriptor. Without
    /// a descriptor the waiting clients are told to come again.
    private func accept(from socket: ListeningSocket, deliver: Deliver) -> Bool {
        if !hasRoom {
            open.makeRoom(
                seconds: limits.spareSeconds, slowestBytes: UInt64(limits.spareBytes))
            return false
        }
        while hasRoom {
            var descriptor: CInt = -1
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
                    turnAway(from: socket)
                    return false
                case ENOBUFS, ENOMEM: return false
                default: return true
                }
            }
            connections.wrappingAdd(1, ordering: .relaxed)
            if !deliver(descriptor, peer) { makeRoom() }
        }
        return true
    }

    /// Tells those who wait to come again, at most as many as there may be connections.
    private func turnAway(from socket: ListeningSocket) {
        var left = limits.connections
        while left > 0, spare.turnAway(from: socket) { left -= 1 }
    }

    private func listen(_ isOn: Bool) {
        for (index, socket) in sockets.enumerated() {
            events.change(socket.descriptor, isOn ? .input : .none, token: UInt64(index))
        }
    }
}
