import Backend
import Foundation
import SyncCore
import TablesProtocol

/// One life of clients, proxies and a backend, drawn from a seed on time that stands still.
///
/// The clients of proxy N write column `mN`, others write column `e` at the backend, all write `s`:
/// so a lost or repeated write of any side shows in a column that only that side touches. Column `p`
/// names another item, which a child needs.
package actor Simulation {
    let plan: Plan
    package nonisolated let trace = Trace()
    let random: SeededRandom
    let clock = ManualClock()
    let executor: LifeExecutor
    let backend: TablesBackend
    let table = Simulation.table
    let home: String
    let proxies: [SimulatedProxy]
    let sabotage: (any Sabotage)?
    var model = Model()
    var faults: [String] = []
    /// Steps that were lived through.
    private(set) var steps = 0
    /// What the backend may be put back to.
    var copy: TablesBackend.Copy?
    /// The backend went back, and the stores have not compared every row since.
    var wentBack = false
    private var counter = 0

    /// What came of a life.
    package struct Outcome: Sendable {
        /// What was found wrong: the number of the invariant, a sentence, and the story.
        package var faults: [String]
        /// Steps that were lived through.
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

    package init(_ plan: Plan) throws { try self.init(plan, sabotage: nil) }

    init(_ plan: Plan, sabotage: (any Sabotage)?) throws {
        (self.plan, self.sabotage) = (plan, sabotage)
        random = SeededRandom(plan.seed)
        executor = LifeExecutor(order: plan.isShuffled ? SeededRandom(plan.seed &+ 5) : nil)
        let process = ProcessInfo.processInfo.processIdentifier
        let home = Self.root() + "understudy-simulation-\(process)-" + UUID().uuidString
        self.home = home
        let clock = clock
        var options = BackendOptions(flavour: plan.flavour)
        options.tables = [table: TableOptions()]
        backend = try TablesBackend(
            options: options,
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: SeededRandom(plan.seed &+ 1))
        let direct = InProcessTransport(backend)
        let (trace, table, executor) = (trace, table, executor)
        do {
            proxies = try (0..<plan.proxies).map { number in
                try SimulatedProxy(
                    number, plan: plan, home: home, table: table, clock: clock, executor: executor,
                    direct: direct, trace: trace, sabotage: sabotage)
            }
        } catch {
            Self.remove(home)
            throw error
        }
    }

    private static func remove(_ home: String) {
        // What a failed removal leaves behind is only a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: home)
    }

    /// Where the stores are: in memory where that can be.
    private static func root() -> String {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? memory + "/" : NSTemporaryDirectory()
    }

    /// Lives through `steps` steps and heals. Whatever came of it, nothing of it is left: its stores
    /// may be in memory.
    package nonisolated func live(steps: Int) async throws -> Outcome {
        try await withTaskExecutorPreference(executor) {
            do {
                try await self.lifetime(steps: steps)
            } catch {
                await self.end()
                throw error
            }
            return await self.end()
        }
    }

    private func lifetime(steps: Int) async throws {
        for number in proxies.indices {
            proxies[number].weather.faultRate = random.pick([0, 0.1, 0.4])
            proxies[number].weather.during { [weak self] in await self?.interfere(number) }
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
            if faults.isEmpty { try await sabotage?.act(in: proxy, random: random) }
            // In a life of its own an engine may die while another proxy's clients act.
            for proxy in proxies where proxy.weather.isDead { try await rebirth(proxy) }
            if faults.isEmpty { try await check(proxy) }
        }
        if faults.isEmpty { try await heal() }
    }

    @discardableResult
    private func end() async -> Outcome {
        for proxy in proxies { await proxy.close() }
        Self.remove(home)
        return Outcome(faults: faults, steps: steps)
    }

    private func rebirth(_ proxy: SimulatedProxy) async throws {
        trace.note("p\(proxy.number) starts again")
        do {
            try await proxy.rebirth()
        } catch let error as StoreError {
            fault(.file, "the store does not open: \(error)")
            return
        }
        for text in try await proxy.store.check() { fault(.file, text) }
        proxy.start()
    }

    /// Books what is wrong, with the part of the story that is about the item.
    func fault(_ invariant: Invariant, _ text: String, _ id: String? = nil) {
        let story = trace.lines.filter { line in
            id.map { line.contains($0) || !line.contains("/") } ?? true
        }
        let lines = ["\(invariant.rawValue): \(text)"] + story.suffix(id == nil ? 8 : 40)
        faults.append(lines.joined(separator: "\n    "))
    }

    func nextValue() -> String {
        counter += 1
        return String(counter)
    }
}
