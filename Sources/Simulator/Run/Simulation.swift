import Backend
import Foundation
import SyncCore
import Synchronization
import TablesProtocol

/// One run of clients, proxies and a backend, drawn from a seed, on virtual time.
///
/// The clients of proxy N write column `mN`, other writers write column `e` at the backend, and all write
/// `s`. So a lost or repeated write shows in a column that only one side writes. Column `p` refers to the
/// item's parent.
package actor Simulation {
    let plan: Plan
    package nonisolated let trace = Trace()
    let random: SeededRandom
    let clock = ManualClock()
    let executor: SimulationExecutor
    let backend: TablesBackend
    /// Where the backend has its rows.
    let rows: SQLiteRowStorage
    let table = Simulation.table
    let rootFolder: String
    let proxies: [SimulatedProxy]
    let plantedBug: (any PlantedBug)?
    var model = Model()
    var faults: [String] = []
    /// The number of steps taken.
    private(set) var steps = 0
    /// The copy that the backend may be restored from.
    var copy: SQLiteRowStorage.Copy?
    /// Whether the backend was restored from a copy.
    var wasBackendRestored = false
    private var counter = 0

    /// The result of a run.
    package struct Outcome: Sendable {
        /// The violations: the number of the invariant, a sentence, and the trace.
        package var faults: [String]
        /// The number of steps taken.
        package var steps: Int
    }

    static let table: TableName = {
        guard let name = TableName("todoitem") else { preconditionFailure("a name of letters") }
        return name
    }()

    static let address: BackendAddress = {
        guard let address = BackendAddress("http://backend:1") else {
            preconditionFailure("an address of a host and a port")
        }
        return address
    }()

    package init(_ plan: Plan) throws { try self.init(plan, plantedBug: nil) }

    init(_ plan: Plan, plantedBug: (any PlantedBug)?) throws {
        (self.plan, self.plantedBug) = (plan, plantedBug)
        random = SeededRandom(plan.seed)
        executor = SimulationExecutor(order: plan.isShuffled ? SeededRandom(plan.seed &+ 5) : nil)
        let process = ProcessInfo.processInfo.processIdentifier
        let rootFolder = Self.root() + "understudy-simulation-\(process)-" + UUID().uuidString
        self.rootFolder = rootFolder
        let clock = clock
        var options = BackendOptions(flavour: plan.flavour)
        options.tables = [table: TableOptions()]
        rows = try SQLiteRowStorage()
        backend = try TablesBackend(
            on: rows, options: options,
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: SeededRandom(plan.seed &+ 1))
        let direct = InProcessTransport(backend)
        let (trace, table, executor) = (trace, table, executor)
        do {
            proxies = try (0..<plan.proxies).map { number in
                try SimulatedProxy(
                    number, plan: plan, rootFolder: rootFolder, table: table, clock: clock,
                    executor: executor,
                    direct: direct, trace: trace, plantedBug: plantedBug)
            }
        } catch {
            Self.remove(rootFolder)
            throw error
        }
    }

    private static func remove(_ rootFolder: String) {
        // A failed removal leaves a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: rootFolder)
    }

    /// The folder of the stores: in memory if possible.
    private static func root() -> String {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? memory + "/" : NSTemporaryDirectory()
    }

    /// Takes `steps` steps, then ends every fault and checks the end state. Removes the run's files in
    /// every case, because they may be in memory.
    package nonisolated func run(steps: Int) async throws -> Outcome {
        try await withTaskExecutorPreference(executor) {
            do {
                try await self.play(steps: steps)
            } catch {
                await self.end()
                throw error
            }
            return await self.end()
        }
    }

    private func play(steps: Int) async throws {
        for number in proxies.indices {
            proxies[number].transport.faultRate = random.pick([0, 0.1, 0.4])
            proxies[number].transport.setConcurrentAction { [weak self] in
                await self?.interfere(number)
            }
            if plan.hasParents { try await declareParents(proxies[number]) }
            proxies[number].start()
        }
        for _ in 0..<steps where faults.isEmpty {
            let proxy = random.pick(proxies)
            self.steps += 1
            do {
                try await step(proxy)
            } catch StoreError.full where proxy.isDiskFull {
                trace.note("p\(proxy.number) could not write")
            }
            if faults.isEmpty { try await plantedBug?.act(in: proxy, random: random) }
            // In automatic runs, a process may crash while another proxy's clients act.
            for proxy in proxies where proxy.transport.isDead { try await restart(proxy) }
            if faults.isEmpty { try await check(proxy) }
        }
        if faults.isEmpty { try await heal() }
    }

    @discardableResult
    private func end() async -> Outcome {
        for proxy in proxies { await proxy.close() }
        Self.remove(rootFolder)
        return Outcome(faults: faults, steps: steps)
    }

    private func restart(_ proxy: SimulatedProxy) async throws {
        trace.note("p\(proxy.number) starts again")
        do {
            try await proxy.restart()
        } catch let error as StoreError {
            fault(.file, "the store does not open: \(error)")
            return
        }
        for text in try await proxy.store.check() { fault(.file, text) }
        proxy.start()
    }

    /// Records a violation, with the part of the trace that mentions the item.
    func fault(_ invariant: Invariant, _ text: String, _ id: String? = nil) {
        let part = trace.lines.filter { line in
            id.map { line.contains($0) || !line.contains("/") } ?? true
        }
        let lines = ["\(invariant.rawValue): \(text)"] + part.suffix(id == nil ? 8 : 40)
        faults.append(lines.joined(separator: "\n    "))
    }

    func nextValue() -> String {
        counter += 1
        return String(counter)
    }
}

/// The events of a run, one line each, and the count of each kind of injected fault.
package final class Trace: Sendable {
    private let state = Mutex((lines: [String](), faults: [String: Int]()))

    package var lines: [String] { state.withLock { $0.lines } }
    package var faults: [String: Int] { state.withLock { $0.faults } }

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    func fault(_ kind: String) {
        state.withLock {
            $0.faults[kind, default: 0] += 1
            $0.lines.append("  " + kind)
        }
    }
}
