import Foundation
import ReferenceBackend
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// One life of clients, proxies and a backend, drawn from a seed on time that stands still.
///
/// The clients of proxy N write column `mN`, others write column `e` at the backend, all write `s`:
/// so a lost or repeated write of any side shows in a column that only that side touches.
actor Simulation {
    /// What a life is made of.
    struct Plan: Sendable {
        var seed: UInt64
        var flavour: BackendFlavour
        var parallelism: Int
        var proxies: Int
        var bug: Bug?

        /// Whose words the backend understands.
        var generation: Generation {
            switch flavour {
            case .mobileServices: .mobileServices
            case .mobileApps, .node, .dotnet: .mobileApps
            case .datasync, .toolkit: .datasync
            }
        }

        /// The life that belongs to a seed: every flavour, one to three proxies, some in parallel.
        init(_ seed: UInt64, bug: Bug? = nil) {
            self.seed = seed
            self.bug = bug
            let all: [BackendFlavour] =
                bug == nil ? BackendFlavour.allCases : [.mobileApps, .node, .dotnet]
            flavour = all[Int(seed / 6 + seed) % all.count]
            parallelism = seed % 5 == 0 && bug == nil ? 4 : 1
            proxies = [1, 2, 1, 2, 1, 3][Int(seed % 6)]
        }
    }

    let plan: Plan
    nonisolated let trace = Trace()
    let random: SeededRandom
    let clock = ManualClock()
    let backend: ReferenceBackend
    let direct: InProcessTransport
    let table: TableName
    let home: String
    let proxies: [SimulatedProxy]
    var model = Model()
    var faults: [String] = []
    private var counter = 0

    init(_ plan: Plan) throws {
        self.plan = plan
        random = SeededRandom(plan.seed)
        let table = try #require(TableName("todoitem"))
        self.table = table
        let memory = "/dev/shm"
        let root =
            FileManager.default.fileExists(atPath: memory) ? memory + "/" : NSTemporaryDirectory()
        let home = root + "understudy-simulation-" + UUID().uuidString
        self.home = home
        let clock = clock
        var options = BackendOptions(flavour: plan.flavour)
        options.tables = [table: TableOptions()]
        backend = try ReferenceBackend(
            options: options,
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: SeededRandom(plan.seed &+ 1))
        let direct = InProcessTransport(backend)
        self.direct = direct
        let trace = trace
        proxies = try (0..<plan.proxies).map { number in
            try SimulatedProxy(
                number, seed: plan.seed, home: home, table: table, clock: clock,
                parallelism: plan.parallelism, direct: direct, trace: trace, bug: plan.bug)
        }
    }

    /// Lives through `steps` steps, heals, and returns what was found wrong.
    func live(steps: Int) async throws -> [String] {
        for number in proxies.indices {
            proxies[number].weather.faultRate = random.pick([0, 0.1, 0.4])
            proxies[number].weather.during { [weak self] in await self?.interfere(number) }
        }
        for _ in 0..<steps where faults.isEmpty {
            let proxy = random.pick(proxies)
            do {
                try await step(proxy)
            } catch StoreError.full where proxy.isDiskFull {
                trace.note("p\(proxy.number) could not write")
            }
            if plan.bug != nil, faults.isEmpty { try await plant(in: proxy) }
            if proxy.weather.isDead { try await rebirth(proxy) }
            if faults.isEmpty { try await check(proxy) }
        }
        if faults.isEmpty { try await heal() }
        for proxy in proxies { proxy.close() }
        // What a failed removal leaves behind is only a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: home)
        return faults
    }

    private func rebirth(_ proxy: SimulatedProxy) async throws {
        trace.note("p\(proxy.number) starts again")
        do {
            try proxy.rebirth(bug: plan.bug)
        } catch let error as StoreError {
            fault("I12: the store does not open: \(error)")
            return
        }
        for text in try await proxy.store.check() { fault("I12: \(text)") }
    }

    /// Lets the planted bug act where it acts on the disk.
    private func plant(in proxy: SimulatedProxy) async throws {
        if let sql = plan.bug?.sql, random.happens(0.2) { try await proxy.tamper(sql) }
        if plan.bug == .forgetsCommits, proxy.weather.plansCrash { proxy.freezeDisk() }
    }

    /// Books what is wrong, with the part of the story that is about the item.
    func fault(_ text: String, _ id: String? = nil) {
        let story = trace.lines.filter { line in
            id.map { line.contains($0) || !line.contains("/") } ?? true
        }
        faults.append(([text] + story.suffix(id == nil ? 8 : 40)).joined(separator: "\n    "))
    }

    func nextValue() -> String {
        counter += 1
        return String(counter)
    }
}
