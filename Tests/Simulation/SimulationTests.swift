import Foundation
import Testing

@Suite struct SimulationTests {
    private func life(
        _ plan: Simulation.Plan, steps: Int = 45
    ) async throws -> (faults: [String], trace: Trace) {
        let simulation = try Simulation(plan)
        return (try await simulation.live(steps: steps), simulation.trace)
    }

    /// Seeds to live through: `SIMULATION_SEEDS=first:count`.
    static let seeds: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["SIMULATION_SEEDS"] ?? ""
        let numbers = text.split(separator: ":").compactMap { UInt64($0) }
        return numbers.count == 2 ? numbers[0]..<numbers[0] + numbers[1] : 0..<2000
    }()

    /// Each batch is one case, so that the cores share them.
    static let batches: [Range<UInt64>] = stride(
        from: seeds.lowerBound, to: seeds.upperBound, by: Int(batch)
    ).map { $0..<min($0 + batch, seeds.upperBound) }
    private static let batch = UInt64(200)
    /// How often each kind of fault happens in a batch at least.
    private static let leastFaults = 3

    @Test(arguments: batches)
    func `no seed loses, repeats or confuses a write`(seeds: Range<UInt64>) async throws {
        var kinds: [String: Int] = [:]
        for seed in seeds {
            let found = try await life(Simulation.Plan(seed))
            #expect(
                found.faults.isEmpty,
                "SIMULATION_SEEDS=\(seed):1 \(found.faults.prefix(3).joined(separator: "\n"))")
            // A seed that is asked for alone tells its whole story.
            if Self.seeds.count == 1 { print(found.trace.lines.joined(separator: "\n")) }
            kinds.merge(found.trace.faults, uniquingKeysWith: +)
        }
        guard seeds.count == Int(Self.batch) else { return }
        let expected = Weather.kinds + ["crash", "partition", "clock jump"]
        let rare = expected.filter { kinds[$0, default: 0] < Self.leastFaults }
        #expect(rare.isEmpty, "\(seeds): these faults hardly happened: \(rare) of \(kinds)")
    }

    /// Seeds that once found something: an insert that the network sent twice, its refusal followed
    /// by a failed look at the row, taken for one that was never sent.
    @Test(arguments: [324] as [UInt64])
    func `what a seed found stays mended`(seed: UInt64) async throws {
        let found = try await life(Simulation.Plan(seed), steps: 60)
        #expect(found.faults.isEmpty, "seed \(seed): \(found.faults)")
    }

    @Test(arguments: [3, 17, 41] as [UInt64])
    func `a seed tells the same story twice`(seed: UInt64) async throws {
        let first = try await life(Simulation.Plan(seed))
        let second = try await life(Simulation.Plan(seed))
        #expect(first.trace.lines == second.trace.lines, "seed \(seed)")
    }

    /// For every invariant there is a planted bug that breaks it, and its check finds it.
    @Test(arguments: Bug.allCases)
    func `a planted bug is found`(bug: Bug) async throws {
        var others: [String] = []
        for seed in 0..<60 as Range<UInt64> {
            let found = try await life(Simulation.Plan(seed, bug: bug)).faults
            if found.contains(where: { $0.hasPrefix(bug.invariant + ":") }) { return }
            others += found.map { String($0.prefix(80)) }
        }
        Issue.record("\(bug) lives; found instead: \(others.prefix(5))")
    }

    @Test func `every invariant has a planted bug`() {
        let all = Set((1...13).map { "I\($0)" })
        #expect(Set(Bug.allCases.map(\.invariant)) == all)
    }
}
