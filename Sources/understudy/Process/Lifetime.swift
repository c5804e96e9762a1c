import Logging
import Proxy
import ServiceLifecycle
import UnixSignals

/// Runs services until a signal ends the process.
///
/// The first SIGINT or SIGTERM stops the services from the last to the first. A second one, or
/// ``Limits/stopMilliseconds``, ends the process at once. Acknowledged writes are on disk in any case.
struct Lifetime {
    let services: [any Service]
    let log: Logger
    /// Called when stopping begins.
    var onStop: @Sendable () -> Void = {}
    /// Called for SIGHUP; nil for the default effect, which is to end the process. SIGHUP also comes when
    /// the terminal is closed; then the services stop.
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
                tasks.addTask { await handle(signals, group) }
                try await group.run()
                tasks.cancelAll()
            }
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    private func handle(_ signals: UnixSignalsSequence, _ group: ServiceGroup) async {
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

/// A service that runs a function until the stop, and then cancels it.
struct LoopService: Service {
    private let body: @Sendable () async -> Void

    /// - Parameter body: a function that returns soon after its task is cancelled.
    init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Runs the function.
    func run() async {
        await cancelWhenGracefulShutdown { await body() }
    }
}

/// A service that calls a function at the stop.
struct ShutdownService: Service {
    private let body: @Sendable () async -> Void

    /// - Parameter body: the function to call.
    init(_ body: @escaping @Sendable () async -> Void) {
        self.body = body
    }

    /// Waits for the stop, then calls the function.
    func run() async {
        try? await gracefulShutdown()
        await body()
    }
}
