import Dispatch
import SyncCore
import Synchronization

/// Runs every task of one life, so that the same seed gives the same story, however many tasks are
/// under way at once.
///
/// 1. Jobs run one after the other, in the order in which they became ready.
/// 2. After each job the stores come to rest: what a commit or a read makes ready is ready before the
///    next job is taken, and no thread of a database races the one of the life.
/// 3. When no job is ready, whoever waits for quiet goes on, one at a time.
package final class LifeExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
        var stores: [Int: Store] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "understudy.life")

    /// An executor with nothing to do.
    package init() {}

    /// Takes a job that is ready.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let begins = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { queue.async { self.run() } }
    }

    /// The store that a proxy works on from now on.
    func watch(_ store: Store, of proxy: Int) { state.withLock { $0.stores[proxy] = store } }

    /// Returns when every other task of the life waits for time, or for nobody.
    func quiet() async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append(continuation) }
        }
    }

    private func run() {
        while true {
            let (job, waiting, stores) = state.withLock { state in
                let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
                var waiting: CheckedContinuation<Void, Never>?
                if job == nil, !state.waiting.isEmpty { waiting = state.waiting.removeFirst() }
                if job == nil, waiting == nil { state.isRunning = false }
                return (job, waiting, Array(state.stores.values))
            }
            if let job {
                // The executor outlives the job: this function, which belongs to it, runs it. A job
                // is taken out of the line once, and so runs once.
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
                for store in stores { store.settle() }
            } else if let waiting {
                waiting.resume()
            } else {
                return
            }
        }
    }
}
