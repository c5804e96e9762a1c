public import HTTPMessage
import Synchronization

/// An HTTP/1.1 server: libmicrohttpd made safe. It knows nothing of routes.
///
/// Start it once, stop it once. It must be stopped before its last reference goes.
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
    }
    private let configuration: ServerConfiguration
    private let handler: any HTTPHandler
    private let observer: (any RequestObserver)?
    private let refused: @Sendable (RefusalReason) -> Void
    private let state = Mutex(State.new)

    /// Makes a server that does not listen yet.
    /// - Parameters:
    ///   - handler: Answers the requests, on the server's threads.
    ///   - observer: Is told of requests that are over, as long as it wants to; nil for none.
    ///   - onRefusal: Is told of every request that the server turned away by itself, to count them.
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

    /// How many workers there are; ``Connection/worker`` is from 0 to one less.
    public var workerCount: Int { configuration.workers }

    /// Requests that are being read, waited for or answered now; for metrics.
    public var openRequests: Int {
        state.withLock { state in
            if case .running(let running) = state { running.core.exchanges.current } else { 0 }
        }
    }

    /// The bytes of ``Limits/bodiesBytes`` that no body holds now.
    var freeBodyBytes: Int {
        state.withLock { state in
            if case .running(let running) = state {
                running.core.bodies.freeBytes
            } else {
                configuration.limits.bodiesBytes
            }
        }
    }

    /// Listens and answers from now on.
    /// - Returns: Where it listens, with the ports that the system chose, in the configured order,
    ///   handed-over sockets last; without the Unix sockets.
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
            let exchanges = OpenExchanges(wakeup: wakeup)
            guard let changesWakeup = Wakeup() else { throw .noDescriptors }
            let changes = OpenExchanges(wakeup: changesWakeup)
            let reaper = try ConnectionReaper(sockets, limits: configuration.limits)
            let core = ServerCore(
                handler: handler, observer: observer, limits: configuration.limits,
                reaper: reaper, exchanges: exchanges, changes: changes, refused: refused)
            guard let daemon = Daemon(core: core, workers: configuration.workers) else {
                throw .system(operation: "MHD_start_daemon", reason: "no threads or memory left")
            }
            guard let thread = DedicatedThread({ reaper.run { daemon.add($0, $1) } }) else {
                daemon.stop()
                throw .system(operation: "pthread_create", reason: "no threads left")
            }
            return Running(core: core, daemon: daemon, reaperThread: thread)
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
    }

    /// Stops and waits until all threads have ended; a second call does nothing.
    ///
    /// 1. Stop accepting and close the listening sockets.
    /// 2. Answer every new and every waiting request with 503, and cut every stream. A request whose
    ///    change is being made gets its true answer first, whole (``Reply/beginsChange()``), within
    ///    ``Limits/changeGraceMilliseconds``. Then nothing waits any more.
    /// 3. Give answers that are on their way a moment to arrive.
    /// 4. Close what is left and join the workers.
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
        core.exchanges.waitUntilNone(milliseconds: configuration.limits.stopGraceMilliseconds)
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
                // No thread to be had: rather wait here than leave the server running.
                self.stop()
                return continuation.resume()
            }
            thread.detach()
        }
    }
}
