import Foundation
import SyncCore
import Synchronization
import TablesProtocol

/// Runs every task of one simulation run on one thread, so that the same seed gives the same trace.
///
/// 1. Jobs run one after the other, in the order in which they became ready or in an order drawn from the
///    seed. The product must not depend on either.
/// 2. While a job runs, the work that it started on a store waits (see ``StoreGate``). After the job the
///    stores finish their work, so that every continuation is ready before the next job is taken, and no
///    database thread races the thread of the run.
/// 3. When no job is ready, the tasks in ``quiet()`` continue, one at a time.
package final class SimulationExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
        var stores: [Int: Store] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let gate = StoreGate()
    private let queue = DispatchQueue(label: "understudy.simulation")
    private let order: SeededRandom?

    /// An executor without jobs.
    /// - Parameter order: draws which ready job runs next; nil takes the first.
    package init(order: SeededRandom? = nil) { self.order = order }

    /// Adds a ready job.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enqueue { $0.jobs.append(job) }
    }

    /// Sets the present store of a proxy.
    func watch(_ store: Store, of proxy: Int) { state.withLock { $0.stores[proxy] = store } }

    /// Returns when every other task of the run waits.
    func quiet() async {
        await withCheckedContinuation { continuation in
            // The runtime may have resumed the caller on another executor. If this executor is idle, it has
            // to be started, or the caller would wait for ever.
            enqueue { $0.waiting.append(continuation) }
        }
    }

    /// Returns when no store has work in progress. An actor may take several steps in one job, so the work
    /// of the earlier ones must finish before a later one advances the time.
    func settle() {
        let stores = state.withLock { state in
            state.stores.sorted { $0.key < $1.key }.map(\.value)
        }
        guard stores.contains(where: \.isAtWork) else { return }
        gate.open()
        for store in stores { store.settle() }
        gate.close()
    }

    /// The clock of a store: it waits until the gate is open.
    func clock(of clock: ManualClock) -> any StoreClock { GatedClock(clock: clock, gate: gate) }

    /// Adds work, and starts the executor if it was idle.
    private func enqueue(_ add: (inout State) -> Void) {
        let begins = state.withLock { state in
            add(&state)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { queue.async { self.run() } }
    }

    /// The index of the next of `count` jobs.
    private func place(_ count: Int) -> Int {
        guard let order, count > 1 else { return 0 }
        return Int(order.next(below: UInt64(count)))
    }

    private func run() {
        while true {
            let (job, waiting) = state.withLock { state in
                let job = state.jobs.isEmpty ? nil : state.jobs.remove(at: place(state.jobs.count))
                var waiting: CheckedContinuation<Void, Never>?
                if job == nil, !state.waiting.isEmpty { waiting = state.waiting.removeFirst() }
                if job == nil, waiting == nil { state.isRunning = false }
                return (job, waiting)
            }
            if let job {
                gate.close()
                // The executor outlives the job, because this method of it runs the job. The job was
                // removed from the array under the lock, so it runs once.
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
                settle()
            } else if let waiting {
                waiting.resume()
            } else {
                return gate.open()
            }
        }
    }
}

/// Keeps the threads of the stores waiting while a job runs.
private final class StoreGate: Sendable {
    private struct State {
        var isOpen = true
        /// The thread of the job, which may read a store itself.
        var thread: Thread?
    }
    private let condition = NSCondition()
    private let state = Mutex(State())

    /// Closes the gate for all threads but this one, because a job starts on it.
    func close() {
        condition.lock()
        state.withLock { $0 = State(isOpen: false, thread: Thread.current) }
        condition.unlock()
    }

    /// Opens the gate: the threads of the stores continue.
    func open() {
        condition.lock()
        state.withLock { $0.isOpen = true }
        condition.broadcast()
        condition.unlock()
    }

    /// Returns when the calling thread may continue.
    func wait() {
        condition.lock()
        while state.withLock({ !$0.isOpen && $0.thread !== Thread.current }) { condition.wait() }
        condition.unlock()
    }
}

/// A store reads the time at the beginning of each transaction, and waits for the gate there.
private struct GatedClock: StoreClock {
    let clock: ManualClock
    let gate: StoreGate

    func now() -> Instant {
        gate.wait()
        return clock.now()
    }

    func uptime() -> Duration { clock.uptime() }
}
