import Logging
import ServiceLifecycle
import UnixSignals

/// Runs services until the process is told to end.
///
/// The first SIGINT or SIGTERM stops the services from the last to the first. A second one, or the
/// time limit, ends the process at once: what was acknowledged is on disk in any case.
struct Lifetime {
    let services: [any Service]
    let log: Logger

    /// Runs until the end.
    func run() async throws(StartProblem) {
        do {
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: services.map {
                        .init(
                            service: $0, successTerminationBehavior: .ignore,
                            failureTerminationBehavior: .gracefullyShutdownGroup)
                    }, logger: log))
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { await Self.obey(signals, group) }
                try await group.run()
                tasks.cancelAll()
            }
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    private static func obey(_ signals: UnixSignalsSequence, _ group: ServiceGroup) async {
        await withDiscardingTaskGroup { tasks in
            var isStopping = false
            for await signal in signals {
                if isStopping { ThisProcess.end(signal == .sigint ? 130 : 143) }
                isStopping = true
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
