import Logging
import Storage
import TablesProtocol

/// Runs the schedule of an engine, and restarts itself when it stalls.
final class SyncLoop: InEngine {
    private unowned let engine: SyncEngine
    private let runner: Runner
    private let proofs: Proofs
    private let maintenance: Maintenance
    /// When the last iteration began; nil before the first.
    private var lastIteration: Duration?

    init(_ engine: SyncEngine, _ runner: Runner, _ proofs: Proofs, _ maintenance: Maintenance) {
        (self.engine, self.runner, self.proofs) = (engine, runner, proofs)
        self.maintenance = maintenance
    }

    var context: EngineContext { runner.context }

    var isAlive: Bool {
        guard runner.current == nil, let lastIteration else { return true }
        return clock.uptime() - lastIteration < .seconds(2 * SyncLimits.maintenanceSeconds)
    }

    /// Runs until the task is cancelled or the engine is retired. If due work is not touched, a watchdog restarts
    /// the loop and reports it.
    func run() async {
        while !Task.isCancelled, !context.isRetired {
            let isStalled = await withTaskGroup(of: Bool.self) { [engine] group in
                group.addTask {
                    await engine.with { await $0.loop.iterate() }
                    return false
                }
                group.addTask { await engine.with { await $0.loop.waitForStall() } }
                let first = await group.next() ?? false
                group.cancelAll()
                // Cancels a request that never ends. Its operation is read back later.
                if first { runner.current?.task?.cancel() }
                return first
            }
            if isStalled { await reportStall() }
        }
    }

    /// Reports a stall in the log, the warnings, the history and the events.
    private func reportStall() async {
        context.memory.stalls += 1
        let sentence = "Syncing stood still and was started again at \(clock.now().text)."
        log.error(
            "sync stalled and was started again",
            metadata: ["stalls": "\(context.memory.stalls)"])
        context.memory.warnings = [sentence]
        progressed()
        await write(or: "stall not recorded") { transaction in
            try transaction.history.record(.failed, actor: .engine, summary: sentence)
            transaction.events.emit(.status)
        }
    }

    private func iterate() async {
        while !Task.isCancelled {
            lastIteration = clock.uptime()
            takeCauses()
            await runner.clockWatch.detectJump()
            let outlook = await runner.outlook()
            guard !context.isRetired else { return }
            switch context.scheduler.next(now: clock.uptime(), outlook: outlook) {
            case .run(let wish): _ = await runner.perform(wish)
            case .probe: await proofs.probe()
            case .wait(let until):
                let minute = clock.uptime() + .seconds(SyncLimits.maintenanceSeconds)
                await signal.wait(until: min(until ?? minute, minute), clock)
            }
            guard !context.isRetired else { return }
            await maintenance.run()
        }
    }

    /// Waits until two looks in a row find the loop stalled.
    /// - Returns: true if due work was not touched for too long; false if cancelled.
    private func waitForStall() async -> Bool {
        // One look may come just before the loop takes up what has become due at that moment.
        var isSuspected = false
        while !Task.isCancelled {
            await clock.sleep(until: clock.uptime() + .seconds(SyncLimits.watchSeconds))
            await runner.clockWatch.detectJump()
            if !Task.isCancelled { await maintenance.sampleMinute() }
            let outlook = await runner.outlook()
            let isStalled = context.scheduler.isStalled(
                now: clock.uptime(), outlook: outlook, isRunning: runner.current != nil)
            if isStalled, isSuspected { return !Task.isCancelled }
            isSuspected = isStalled
        }
        return false
    }
}
