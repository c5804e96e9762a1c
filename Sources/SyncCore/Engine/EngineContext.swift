import HTTPMessage
import Logging
import TablesProtocol

/// What the subjects of an engine share: its store, what is injected, and the schedule.
///
/// Neither it nor a subject is Sendable. They belong to the engine's actor and run on it alone, so that what one
/// of them does without an `await` is atomic for all.
final class EngineContext {
    let store: Store
    let clock: any EngineClock
    let random: any RandomSource
    let log: Logger
    /// Wakes the loop.
    let signal: WakeSignal
    /// Wakes what follows the stream of changes: a piece has come, or something that it depends on has changed.
    let followSignal: WakeSignal
    /// The counts of requests since the last sample.
    let meter: Meter
    /// What the next engine on the same store takes over.
    var memory: EngineMemory
    /// Whether the store is about to be closed, so that no further run and no live write begins.
    var isRetired = false

    init(
        _ store: Store, _ clock: any EngineClock, _ random: any RandomSource, _ log: Logger,
        _ signal: WakeSignal, _ followSignal: WakeSignal, _ meter: Meter, _ memory: EngineMemory
    ) {
        (self.store, self.clock, self.random, self.log) = (store, clock, random, log)
        (self.signal, self.followSignal, self.meter) = (signal, followSignal, meter)
        self.memory = memory
    }

    var scheduler: Scheduler {
        get { memory.scheduler }
        set { memory.scheduler = newValue }
    }
}

/// A subject of an engine.
protocol InEngine {
    var context: EngineContext { get }
}

extension InEngine {
    var store: Store { context.store }
    var clock: any EngineClock { context.clock }
    var random: any RandomSource { context.random }
    var log: Logger { context.log }
    var signal: WakeSignal { context.signal }
    var settings: SyncSettings { context.scheduler.settings }
    var isSwitchedOff: Bool { context.scheduler.mode != .online }

    /// Wakes the loop, and what follows the stream of changes.
    func wake() {
        signal.send(nil)
        context.followSignal.send(nil)
    }

    /// Passes the pending wake causes to the schedule.
    func takeCauses() {
        for cause in signal.take() { context.scheduler.wake(cause, now: clock.uptime()) }
    }

    /// Records that the engine goes on.
    func progressed() { context.scheduler.progressed(now: clock.uptime()) }

    /// Writes what no caller waits for. A failure is only logged.
    /// - Parameter failure: what the log says then.
    /// - Returns: whether it was written.
    @discardableResult
    func write(
        or failure: Logger.Message, _ body: @escaping @Sendable (Transaction) throws -> Void
    ) async -> Bool {
        do throws(StoreError) {
            try await store.write(body)
            return true
        } catch {
            log.warning(failure, metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Tells the dashboard that the status has changed.
    func announceStatus() async {
        await write(or: "status not announced") { $0.events.emit(.status) }
    }
}
