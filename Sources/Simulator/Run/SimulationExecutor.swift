import Foundation
import SyncCore
import Synchronization
import TablesProtocol

/// Runs every task of one simulation run, so that the same seed gives the same trace, however many tasks
/// are under way at once.
///
/// 1. Jobs run one after the other, in the order in which they became ready or in one drawn from the
///    seed: nothing may lean on either.
/// 2. While a job runs, what it began on a store waits (see ``StoreTurn``). After it the stores come to
///    rest: what a commit or a read makes ready is ready before the next job is taken, and no thread of
///    a database races the thread of the run.
/// 3. When no job is ready, the tasks that wait for quiet go on, one at a time.
package final class SimulationExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
        var stores: [Int: Store] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let turn = StoreTurn()
    private let queue = DispatchQueue(label: "understudy.simulation")
    private let order: SeededRandom?

    /// An executor with nothing to do.
    /// - Parameter order: draws which of the jobs that are ready runs next; nil takes the first.
    package init(order: SeededRandom? = nil) { self.order = order }

    /// Takes a job that is ready.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        goOn { $0.jobs.append(job) }
    }

    /// The store that a proxy works on from now on.
    func watch(_ store: Store, of proxy: Int) { state.withLock { $0.stores[proxy] = store } }

    /// Returns when every other task of the run waits, for time or for ever.
    func quiet() async {
        await withCheckedContinuation { continuation in
            // The runtime may have let the caller go on elsewhere: a caller that waits for an executor
            // which rests already would wait for ever.
            goOn { $0.waiting.append(continuation) }
        }
    }

    /// Returns when no store is at work on anything. An actor may take several steps in one job: before
    /// one of them moves the time, what the others began is over.
    func settle() {
        let stores = state.withLock { state in
            state.stores.sorted { $0.key < $1.key }.map(\.value)
        }
        guard stores.contains(where: \.isAtWork) else { return }
        turn.give()
        for store in stores { store.settle() }
        turn.take()
    }

    /// The time as a store of the run sees it: when it is the store's turn.
    func clock(of clock: ManualClock) -> any StoreClock { TurnClock(clock: clock, turn: turn) }

    /// Takes over what there is to do, and begins with it if nothing was.
    private func goOn(_ take: (inout State) -> Void) {
        let begins = state.withLock { state in
            take(&state)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { queue.async { self.run() } }
    }

    /// Which of so many jobs is next.
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
                turn.take()
                // The executor outlives the job: this function, which belongs to it, runs it. A job
                // is taken out of the line once, and so runs once.
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
                settle()
            } else if let waiting {
                waiting.resume()
            } else {
                return turn.give()
            }
        }
    }
}

/// Whether a job has its turn, or the stores have theirs.
private final class StoreTurn: Sendable {
    private struct State {
        var isStores = true
        /// The thread that the job runs on: it may look into a store itself.
        var thread: Thread?
    }
    private let condition = NSCondition()
    private let state = Mutex(State())

    /// A job of this thread runs from now on.
    func take() {
        condition.lock()
        state.withLock { $0 = State(isStores: false, thread: Thread.current) }
        condition.unlock()
    }

    /// The stores go on.
    func give() {
        condition.lock()
        state.withLock { $0.isStores = true }
        condition.broadcast()
        condition.unlock()
    }

    /// Returns when a thread of a store may go on.
    func wait() {
        condition.lock()
        while state.withLock({ !$0.isStores && $0.thread !== Thread.current }) { condition.wait() }
        condition.unlock()
    }
}

/// A store asks for the time at the beginning of each transaction: that is where it waits.
private struct TurnClock: StoreClock {
    let clock: ManualClock
    let turn: StoreTurn

    func now() -> Instant {
        turn.wait()
        return clock.now()
    }

    func uptime() -> Duration { clock.uptime() }
}
