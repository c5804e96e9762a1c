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

/// A service that calls a function at the stop.
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
