import Backend
import Foundation
import HTTPMessage
import SyncCore
import Synchronization
import TablesProtocol

/// Many simulation runs, one for each seed, several at once.
package final class SimulationRuns: Sendable {
    /// The result of the runs.
    package struct Report: Sendable {
        /// The number of finished runs.
        package var runs = 0
        /// The number of steps.
        package var steps = 0
        /// The count of each kind of injected fault.
        package var faults: [String: Int] = [:]
        /// The runs that violated an invariant, ordered by seed.
        package var failures: [Failure] = []
    }

    /// A run that violated an invariant.
    package struct Failure: Sendable {
        /// The seed that repeats the run.
        package var seed: UInt64
        /// The violations: the number of the invariant, a sentence, and the part of the trace.
        package var faults: [String]
    }

    /// The steps of a run before every fault ends.
    package static let steps = 45

    private let seeds: Range<UInt64>
    private let atOnce: Int

    /// Makes the runs of these seeds, of which `atOnce` run concurrently.
    package init(_ seeds: Range<UInt64>, atOnce: Int) {
        (self.seeds, self.atOnce) = (seeds, max(atOnce, 1))
    }

    /// Performs all runs.
    /// - Throws: why a run could not begin, such as a disk without free space.
    package func run() async throws -> Report {
        var report = Report()
        try await withThrowingTaskGroup(of: (UInt64, Simulation.Outcome, Trace).self) { group in
            var seeds = seeds.makeIterator()
            func begin() {
                guard let seed = seeds.next() else { return }
                group.addTask {
                    let simulation = try Simulation(Plan(seed))
                    do {
                        let outcome = try await simulation.run(steps: Self.steps)
                        return (seed, outcome, simulation.trace)
                    } catch {
                        let fault = "The run could not go on: \(error)"
                        let outcome = Simulation.Outcome(faults: [fault], steps: 0)
                        return (seed, outcome, simulation.trace)
                    }
                }
            }
            for _ in 0..<atOnce { begin() }
            while let (seed, outcome, trace) = try await group.next() {
                report.runs += 1
                report.steps += outcome.steps
                report.faults.merge(trace.faults, uniquingKeysWith: +)
                if !outcome.faults.isEmpty {
                    report.failures.append(Failure(seed: seed, faults: outcome.faults))
                }
                begin()
            }
        }
        report.failures.sort { $0.seed < $1.seed }
        return report
    }
}

/// The parameters of a simulation run.
package struct Plan: Sendable {
    var seed: UInt64
    var flavour: BackendFlavour
    /// The number of requests that a proxy sends at once.
    var parallelism: Int
    var proxies: Int
    /// Whether the engines sync by themselves, rather than when a step says so.
    var isAutomatic: Bool
    /// Whether items refer to others by a declared column.
    var hasParents: Bool
    /// Whether the backend is sometimes restored from an earlier copy.
    var isRestored: Bool
    /// Whether ready jobs run in an order drawn from the seed, rather than in the order in which they
    /// became ready.
    var isShuffled: Bool

    /// The flavours that are simulated. The express flavour is the Node server with other tables.
    static let flavours = BackendFlavour.allCases.filter { $0 != .express }

    /// The generation of the backend.
    var generation: Generation {
        switch flavour {
        case .mobileServices: .mobileServices
        case .mobileApps, .node, .express, .dotnet: .mobileApps
        case .datasync, .toolkit: .datasync
        }
    }

    /// The plan of a seed. Over many seeds: every flavour, one to three proxies, parallel requests,
    /// automatic sync, parents, a restored backend, and shuffled jobs.
    package init(_ seed: UInt64) {
        self.seed = seed
        let all = Self.flavours
        flavour = all[Int((seed / 6 &+ seed) % UInt64(all.count))]
        parallelism = seed % 5 == 0 ? 4 : 1
        proxies = [1, 2, 1, 2, 1, 3][Int(seed % 6)]
        isAutomatic = seed % 7 == 3
        hasParents = seed % 4 == 1
        isRestored = seed % 9 == 4
        isShuffled = seed % 11 < 4
    }
}

/// A bug in the simulated environment, with which a test shows that the checks find it. The program has
/// none.
protocol PlantedBug: Sendable {
    /// An answer instead of the backend's; nil to pass the request on.
    func answer(
        _ request: Request, base: any HTTPTransport, random: SeededRandom
    ) async throws(TransportError) -> Response?
    /// Called between two steps of the run.
    func act(in proxy: SimulatedProxy, random: SeededRandom) async throws
    /// Called instead of the store's maintenance; true if the bug replaced it.
    func runsMaintenance(of proxy: SimulatedProxy) async throws -> Bool
    /// Called before a store is opened again after a crash.
    func damage(storeAt path: String) throws
    /// Whether the engines' own loops are started.
    var startsLoops: Bool { get }
}

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
