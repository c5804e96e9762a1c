import Foundation
import HTTPMessage
import Testing

@testable import Simulator

@Suite(.serialized) struct SimulationTests {
    /// Seeds to run: `SIMULATION_SEEDS=first:count`. Few unless asked for more, since this build asserts
    /// in each transaction: `test_selftest.py` has the release program run the many.
    static let seeds: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["SIMULATION_SEEDS"] ?? ""
        let numbers = text.split(separator: ":").compactMap { UInt64($0) }
        return numbers.count == 2 ? numbers[0]..<numbers[0] + numbers[1] : 2100..<2160
    }()

    /// How often each kind of fault happens at least, for every hundred seeds. The rarest, an answer
    /// put in the place of a write's, comes by a few times as often.
    private static let leastFaultsForHundredSeeds = 1.5
    /// So many seeds make the counts of faults mean something.
    private static let seedsThatCount = 1000

    @Test func `no seed loses, repeats or confuses a write`() async throws {
        let report = try await SimulationRuns(Self.seeds, atOnce: 4).run()
        for failure in report.failures {
            let text = failure.faults.prefix(3).joined(separator: "\n")
            Issue.record("SIMULATION_SEEDS=\(failure.seed):1 \(text)")
        }
        #expect(report.runs == Self.seeds.count)
        guard Self.seeds.count >= Self.seedsThatCount else { return }
        let least = Int(Double(Self.seeds.count) / 100 * Self.leastFaultsForHundredSeeds)
        let expected =
            FaultyTransport.kinds + [
                "crash", "partition", "clock jump", "undo", "purge", "disk full",
                "backend restored",
            ]
        let rare = expected.filter { report.faults[$0, default: 0] < least }
        #expect(
            rare.isEmpty, "\(Self.seeds): these faults hardly happened: \(rare) of \(report.faults)"
        )
    }

    /// Seeds that once found something: an insert that the network sent twice, its refusal followed
    /// by a failed look at the row, taken for one that was never sent; a change that became two while
    /// another one followed it; an insert that failed after it had taken effect, taken for one that was
    /// never sent, since the proof after it was answered 401.
    @Test(arguments: [324, 2110, 1745] as [UInt64])
    func `what a seed found stays mended`(seed: UInt64) async throws {
        let found = try await Simulation(Plan(seed)).run(steps: 60)
        #expect(found.faults.isEmpty, "seed \(seed): \(found.faults)")
    }

    @Test func `a run that cannot go on leaves nothing behind`() async throws {
        // In this one the engines have loops of their own.
        let simulation = try Simulation(Plan(3), plantedBug: Breakdown())
        let home = await simulation.home
        #expect(FileManager.default.fileExists(atPath: home))
        await #expect(throws: Breakdown.self) { try await simulation.run(steps: 5) }
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    /// Some of each kind in which steps say when to sync: one request at a time, four at a time, with
    /// parents, restored.
    @Test(arguments: [0, 1, 4, 5, 13, 20, 25, 41, 85, 95] as [UInt64])
    func `a seed gives the same trace twice`(seed: UInt64) async throws {
        let (first, second) = (try Simulation(Plan(seed)), try Simulation(Plan(seed)))
        _ = try await first.run(steps: SimulationRuns.steps)
        _ = try await second.run(steps: SimulationRuns.steps)
        #expect(first.trace.lines == second.trace.lines, "seed \(seed)")
    }
}

/// Ends a run after its first step.
private struct Breakdown: PlantedBug, Error {
    var startsLoops: Bool { true }
    func answer(
        _ request: Request, base: any HTTPTransport, random: SeededRandom
    ) async throws(TransportError) -> Response? { nil }
    func act(in proxy: SimulatedProxy, random: SeededRandom) async throws { throw self }
    func runsMaintenance(of proxy: SimulatedProxy) async throws -> Bool { false }
    func damage(storeAt path: String) throws {}
}
