import Logging
import Proxy
import ServiceLifecycle
import UnixSignals

/// Runs services until the process is told to end.
///
/// The first SIGINT or SIGTERM stops the services from the last to the first. A second one, or the
/// time limit, ends the process at once: what was acknowledged is on disk in any case.
struct Lifetime {
    let services: [any Service]
    let log: Logger
    /// Called when stopping begins.
    var onStop: @Sendable () -> Void = {}
    /// What SIGHUP does; nil for what it does to every program, which is to end it. It also comes
    /// when the terminal of the process goes; then the process stops.
    var onHangUp: (@Sendable () async -> Void)?

    /// Runs until the end.
    func run() async throws(StartProblem) {
        do {
            let trapped: [UnixSignal] =
                onHangUp == nil ? [.sigint, .sigterm] : [.sigint, .sigterm, .sighup]
            let signals = await UnixSignalsSequence(trapping: trapped)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: services.map {
                        .init(
                            service: $0, successTerminationBehavior: .ignore,
                            failureTerminationBehavior: .gracefullyShutdownGroup)
                    }, logger: log))
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { await obey(signals, group) }
                try await group.run()
                tasks.cancelAll()
            }
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    private func obey(_ signals: UnixSignalsSequence, _ group: ServiceGroup) async {
        let hasTerminal = ThisProcess.isInteractive
        await withDiscardingTaskGroup { tasks in
            var isStopping = false
            for await signal in signals {
                if signal == .sighup, let onHangUp, ThisProcess.isInteractive == hasTerminal {
                    if !isStopping { tasks.addTask { await onHangUp() } }
                    continue
                }
                if isStopping { ThisProcess.end(signal == .sigint ? 130 : 143) }
                isStopping = true
                onStop()
                tasks.addTask {
                    await group.triggerGracefulShutdown()
                    try? await Task.sleep(for: .milliseconds(Limits.stopMilliseconds))
                    if !Task.isCancelled { ThisProcess.end(0) }
                }
            }
            tasks.cancelAll()
        }
    }
}

/// A service that runs until it is told to stop, and is then cancelled.
struct LoopService: Service {
    private let body: @Sendable () async -> Void

    /// Makes a service of a function that returns soon after its task is cancelled.
    init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Runs it.
    func run() async {
        await cancelWhenGracefulShutdown { await body() }
    }
}

/// A service that does nothing but to close something when it is told to stop.
struct ShutdownService: Service {
    private let body: @Sendable () async -> Void

    /// Makes a service of what is to be done at the end.
    init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Waits for the end, then does it.
    func run() async {
        try? await gracefulShutdown()
        await body()
    }
}
