import Glibc
package import Logging
package import Proxy
package import ServiceLifecycle
package import UnixSignals

/// Runs services until a signal ends the process.
///
/// The first SIGINT or SIGTERM stops the services from the last to the first. A second one, or
/// ``stopMilliseconds``, ends the process at once. Acknowledged writes are on disk in any case.
package struct Lifetime {
    package let services: [any Service]
    package let log: Logger
    /// Called when stopping begins.
    package var onStop: @Sendable () -> Void = {}
    /// Called with the signal, and waited for, before the services are stopped.
    package var beforeStop: @Sendable (UnixSignal) async -> Void = { _ in }
    /// Milliseconds that the services have to stop.
    package var stopMilliseconds = Limits.stopMilliseconds
    /// Called for each of ``hangUps``.
    package var onHangUp: @Sendable () async -> Void = {}
    /// The SIGHUPs that reload; nil for the default effect, which is to end the process.
    package var hangUps: HangUps?
    /// Those that stop the services.
    private let ends: UnixSignalsSequence

    /// Traps SIGINT and SIGTERM. Those that come before ``run()`` take effect there.
    package init(services: [any Service], log: Logger) async {
        self.services = services
        self.log = log
        ends = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    }

    /// Runs until the end.
    package func run() async throws(StartProblem) {
        do {
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: services.map {
                        .init(
                            service: $0, successTerminationBehavior: .ignore,
                            failureTerminationBehavior: .gracefullyShutdownGroup)
                    }, logger: log))
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { await handleSignals(group) }
                try await group.run()
                tasks.cancelAll()
            }
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    private func handleSignals(_ group: ServiceGroup) async {
        let (signals, all) = AsyncStream.makeStream(of: UnixSignal.self)
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { for await signal in ends { all.yield(signal) } }
            if let hangUps {
                tasks.addTask { for await signal in hangUps.signals { all.yield(signal) } }
            }
            var isStopping = false
            for await signal in signals {
                if signal == .sighup, hangUps?.hasLostTerminal != true {
                    if !isStopping { tasks.addTask { await onHangUp() } }
                    continue
                }
                if isStopping { ThisProcess.end(signal == .sigint ? 130 : 143) }
                isStopping = true
                onStop()
                tasks.addTask {
                    await beforeStop(signal)
                    await group.triggerGracefulShutdown()
                    try? await Task.sleep(for: .milliseconds(stopMilliseconds))
                    if !Task.isCancelled { ThisProcess.end(0) }
                }
            }
            tasks.cancelAll()
        }
    }
}

/// The SIGHUPs of this process, which from now on do not end it. One that comes while the process starts
/// waits until a ``Lifetime`` handles it.
///
/// SIGHUP also comes when the terminal is closed; then the process stops.
package struct HangUps {
    package let signals: UnixSignalsSequence
    private let hadTerminal: Bool

    /// Traps the signal.
    package init() async {
        hadTerminal = ThisProcess.isInteractive
        signals = await UnixSignalsSequence(trapping: .sighup)
    }

    /// Whether the terminal was closed since.
    package var hasLostTerminal: Bool { hadTerminal && !ThisProcess.isInteractive }
}

/// A service that runs a function until the stop, and then cancels it.
package struct LoopService: Service {
    private let body: @Sendable () async -> Void

    /// - Parameter body: a function that returns soon after its task is cancelled.
    package init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Runs the function, and waits for the stop. A service that had nothing to do, and whose end is noticed
    /// only while the others stop, would count as failed.
    package func run() async {
        await cancelWhenGracefulShutdown { await body() }
        try? await gracefulShutdown()
    }
}

package struct ShutdownService: Service {
    private let body: @Sendable () async -> Void

    /// - Parameter body: the function to call.
    package init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Waits for the stop, then calls the function.
    package func run() async {
        try? await gracefulShutdown()
        await body()
    }
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
