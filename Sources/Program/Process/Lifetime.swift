import Dispatch
import Glibc
import Platform

/// Runs services until a signal ends the process.
///
/// The first SIGINT or SIGTERM stops the services from the last to the first. A second one, or
/// ``stopMilliseconds``, ends the process at once. Acknowledged writes are on disk in any case.
package struct Lifetime {
    package let services: [Service]
    /// Called when stopping begins.
    package var onStop: @Sendable () -> Void = {}
    /// Called with the signal, and waited for, before the services are stopped.
    package var beforeStop: @Sendable (ProcessSignal) async -> Void = { _ in }
    /// Milliseconds that the services have to stop.
    package var stopMilliseconds = Limits.stopMilliseconds
    /// Called for each of ``hangUps``.
    package var onHangUp: @Sendable () async -> Void = {}
    /// The SIGHUPs that reload; nil for the default effect, which is to end the process.
    package var hangUps: HangUps?
    /// Those that stop the services.
    private let ends: AsyncStream<ProcessSignal>

    /// Traps SIGINT and SIGTERM. Those that come before ``run()`` take effect there.
    package init(services: [Service]) async {
        self.services = services
        ends = await ProcessSignal.trapped(.interrupt, .terminate)
    }

    /// Runs until the end.
    package func run() async {
        let stops = services.map { $0.start() }
        let (signals, all) = AsyncStream.makeStream(of: ProcessSignal.self)
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { for await signal in ends { all.yield(signal) } }
            if let hangUps {
                tasks.addTask { for await signal in hangUps.signals { all.yield(signal) } }
            }
            var isStopping = false
            for await signal in signals {
                if signal == .hangUp, hangUps?.hasLostTerminal != true {
                    if !isStopping { tasks.addTask { await onHangUp() } }
                    continue
                }
                if isStopping { ThisProcess.end(signal == .interrupt ? 130 : 143) }
                isStopping = true
                onStop()
                tasks.addTask {
                    await beforeStop(signal)
                    let limit = Task {
                        try await Task.sleep(for: .milliseconds(stopMilliseconds))
                        ThisProcess.end(0)
                    }
                    for stop in stops.reversed() { await stop() }
                    limit.cancel()
                    all.finish()
                }
            }
            tasks.cancelAll()
        }
    }
}

/// What runs as long as the process, or ends with it.
package enum Service: Sendable {
    /// Runs from the start, and is cancelled and waited for at the stop. It returns soon after that.
    case loop(@Sendable () async -> Void)
    /// Is called at the stop, and waited for.
    case atStop(@Sendable () async -> Void)

    /// Starts it, and gives the function that stops it.
    fileprivate func start() -> @Sendable () async -> Void {
        switch self {
        case .loop(let body):
            let task = Task { await body() }
            return {
                task.cancel()
                await task.value
            }
        case .atStop(let body): return body
        }
    }
}

/// A signal that stops or reloads the process, with its number (POSIX, kill).
package enum ProcessSignal: CInt, Sendable {
    case hangUp = 1
    case interrupt = 2
    case terminate = 15

    private static let queue = DispatchQueue(label: "signals")

    /// Traps signals: from now on they have no effect but to be in the stream, in the order in which they come.
    static func trapped(_ signals: ProcessSignal...) async -> AsyncStream<ProcessSignal> {
        let (trapped, arrivals) = AsyncStream.makeStream(of: ProcessSignal.self)
        for signal in signals {
            let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
            // A source that is released traps nothing. Its handler holds it until the process ends.
            source.setEventHandler { withExtendedLifetime(source) { _ = arrivals.yield(signal) } }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
        }
        return trapped
    }
}

/// The SIGHUPs of this process, which from now on do not end it. One that comes while the process starts
/// waits until a ``Lifetime`` handles it.
///
/// SIGHUP also comes when the terminal is closed; then the process stops.
package struct HangUps: Sendable {
    let signals: AsyncStream<ProcessSignal>
    private let hadTerminal: Bool

    /// Traps the signal.
    package init() async {
        hadTerminal = ThisProcess.isInteractive
        signals = await ProcessSignal.trapped(.hangUp)
    }

    /// Whether the terminal was closed since.
    var hasLostTerminal: Bool { hadTerminal && !ThisProcess.isInteractive }
}

/// The service manager that started this process (systemd), by the variables that it has set. It gets the
/// state of the service, and may pass listening sockets.
package struct ServiceManager: Sendable {
    private let socketName: String?
    /// Microseconds that the manager waits for `WATCHDOG=1` before it restarts the service; nil if it does
    /// not.
    package let watchdogMicroseconds: UInt64?
    /// Sockets that listen already, in the order of the socket unit.
    package let sockets: [CInt]

    /// The first descriptor that the manager passes (sd_listen_fds).
    private static let firstSocket: CInt = 3

    /// Reads the variables. Those for another process are ignored.
    package init(process: Int32 = getpid(), environment: (String) -> String?) {
        socketName = environment("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        let isWatched = environment("WATCHDOG_PID").map { $0 == String(process) } ?? true
        watchdogMicroseconds =
            isWatched ? environment("WATCHDOG_USEC").flatMap(UInt64.init) : nil
        let count = environment("LISTEN_FDS").flatMap(CInt.init) ?? 0
        let areForThisProcess = environment("LISTEN_PID") == String(process)
        sockets =
            areForThisProcess && count > 0
            ? Array(Self.firstSocket..<(Self.firstSocket + count)) : []
    }

    /// Sends assignments, such as `READY=1`, to the manager. Does nothing without a manager; errors are
    /// ignored.
    package func notify(_ assignments: String...) {
        guard let socketName, socketName.hasPrefix("/") || socketName.hasPrefix("@") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(socketName.utf8)
        // A name with @ is in the abstract namespace, in which names begin with a zero byte.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        let begin = MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2
        guard begin + name.count < MemoryLayout<sockaddr_un>.size else { return }
        // By the guard above, the name fits in the struct after the family.
        unsafe withUnsafeMutableBytes(of: &address) { bytes in
            for (index, byte) in name.enumerated() { unsafe bytes[begin + index] = byte }
        }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(assignments.joined(separator: "\n").utf8)
        let size = socklen_t(begin + name.count)
        // sendto reads the message and the address, both of which live until it returns.
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                _ = unsafe sendto(
                    descriptor, message, message.count, CInt(MSG_NOSIGNAL), target, size)
            }
        }
    }

    /// Microseconds of the monotonic clock, which the manager requires with `RELOADING=1`.
    package static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        // clock_gettime fills the struct that it is given.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
