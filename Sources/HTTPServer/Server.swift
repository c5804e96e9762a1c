public import HTTPMessage
import Synchronization

/// An HTTP/1.1 server over libmicrohttpd.
///
/// It is started once and stopped once, and must be stopped before its last reference is dropped.
public final class Server: Sendable {
    private enum State {
        case new
        case running(Running)
        case stopped
    }
    private struct Running {
        var core: ServerCore
        var daemon: Daemon
        var reaperThread: DedicatedThread
        var sockets: [ListeningSocket]
    }
    private let configuration: ServerConfiguration
    private let handler: any HTTPHandler
    private let observer: (any RequestObserver)?
    private let refused: @Sendable (RefusalReason) -> Void
    private let state = Mutex(State.new)

    /// Makes a server that does not listen yet.
    /// - Parameters:
    ///   - handler: answers the requests, on the server's threads.
    ///   - observer: gets each request that has ended, while it watches; nil for none.
    ///   - onRefusal: called for each request that the server refuses without the handler.
    public init(
        _ configuration: ServerConfiguration, handler: any HTTPHandler,
        observer: (any RequestObserver)? = nil,
        onRefusal: @escaping @Sendable (RefusalReason) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.handler = handler
        self.observer = observer
        refused = onRefusal
    }

    deinit {
        state.withLock { state in
            if case .running = state { assertionFailure("A server was dropped without stop()") }
        }
    }

    /// The number of requests that are being read or answered now, for tests.
    var openRequests: Int {
        state.withLock { state in
            if case .running(let running) = state { running.core.exchanges.current } else { 0 }
        }
    }

    /// The bytes of ``Limits/bodiesBytes`` that no body holds now, for tests.
    var freeBodyBytes: Int {
        state.withLock { state in
            if case .running(let running) = state {
                running.core.bodies.freeBytes
            } else {
                configuration.limits.bodiesBytes
            }
        }
    }

    /// Starts to listen and to answer.
    /// - Returns: the addresses with the ports that the system chose, in the configured order, then those of
    ///   the adopted sockets; without the Unix sockets.
    /// - Throws: ``StartFailure``; then nothing listens.
    public func start() throws(StartFailure) -> [ListenAddress] {
        try state.withLock { (state) throws(StartFailure) -> [ListenAddress] in
            guard case .new = state else { throw .alreadyStarted }
            let sockets = try openSockets()
            state = .running(try run(sockets))
            return sockets.compactMap(\.bound)
        }
    }

    private func openSockets() throws(StartFailure) -> [ListeningSocket] {
        var sockets: [ListeningSocket] = []
        do throws(StartFailure) {
            for address in configuration.addresses {
                do throws(StartFailure) {
                    sockets.append(
                        try ListeningSocket(address, backlog: configuration.limits.backlog))
                } catch  where address.isOptional {
                    continue
                }
            }
            for path in configuration.unixSockets {
                sockets.append(
                    try ListeningSocket(unix: path, backlog: configuration.limits.backlog))
            }
            for descriptor in configuration.openSockets {
                sockets.append(try ListeningSocket(adopting: descriptor))
            }
            if sockets.isEmpty { throw .nowhereToListen }
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
        return sockets
    }

    private func run(_ sockets: [ListeningSocket]) throws(StartFailure) -> Running {
        do throws(StartFailure) {
            guard let wakeup = Wakeup() else { throw .noDescriptors }
            let exchanges = InFlightCounter(wakeup: wakeup)
            guard let changesWakeup = Wakeup() else { throw .noDescriptors }
            let changes = InFlightCounter(wakeup: changesWakeup)
            let reaper = try ConnectionReaper(
                sockets, limits: configuration.limits, isSecure: configuration.certificate != nil)
            let core = ServerCore(
                handler: handler, observer: observer, limits: configuration.limits,
                reaper: reaper, exchanges: exchanges, changes: changes,
                isSecure: configuration.certificate != nil, refused: refused)
            let daemon = Daemon(
                core: core, workers: configuration.workers, certificate: configuration.certificate)
            guard let daemon else {
                if configuration.certificate != nil { throw .certificate }
                throw .system(operation: "MHD_start_daemon", reason: "no threads or memory left")
            }
            guard let thread = DedicatedThread({ reaper.run { daemon.add($0, $1) } }) else {
                daemon.stop()
                throw .system(operation: "pthread_create", reason: "no threads left")
            }
            return Running(core: core, daemon: daemon, reaperThread: thread, sockets: sockets)
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
    }

    /// Copies of the sockets of ``ServerConfiguration/addresses``, for a server that takes the place of this
    /// one: it adopts them, and this one is stopped when that one has started. So no connection is refused
    /// in between. The caller owns them until they are adopted.
    public func copiedListeners() -> [CInt] {
        state.withLock { state in
            guard case .running(let running) = state else { return [] }
            return running.sockets.filter { $0.bound != nil }.compactMap(\.copied)
        }
    }

    /// Stops and waits until all threads have ended; a second call does nothing.
    ///
    /// 1. Stop accepting and close the listening sockets.
    /// 2. Answer every new and every waiting request with 503, and cut every stream. A request whose
    ///    change is being made gets its true answer first, whole (``Reply/tryBeginChange()``), within
    ///    ``Limits/changeGraceMilliseconds``. Then nothing waits any more.
    /// 3. Wait for answers that are being sent, at most ``Limits/stopGraceMilliseconds``.
    /// 4. Close all connections and join the workers.
    ///
    /// Must not be called by a handler.
    @available(*, noasync)
    public func stop() {
        let running = state.withLock { state -> Running? in
            defer { state = .stopped }
            if case .running(let running) = state { return running }
            return nil
        }
        guard let running else { return }
        let core = running.core
        precondition(!core.workers.isCurrent, "A handler cannot stop the server it runs on")
        core.reaper.stop()
        running.reaperThread.join()
        core.reaper.closeSockets()
        core.suspensions.close(milliseconds: configuration.limits.changeGraceMilliseconds)
        core.exchanges.waitUntilZero(milliseconds: configuration.limits.stopGraceMilliseconds)
        running.daemon.stop()
    }

    /// Stops on a thread of its own, so that no thread of Swift's pool waits.
    public func stop() async {
        await withCheckedContinuation { continuation in
            let thread = DedicatedThread {
                self.stop()
                continuation.resume()
            }
            guard let thread else {
                // Without a thread it blocks here, which is better than a server that goes on.
                self.stop()
                return continuation.resume()
            }
            thread.detach()
        }
    }
}
