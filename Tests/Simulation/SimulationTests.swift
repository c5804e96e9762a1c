import Foundation
import HTTPMessage
import Testing

@testable import Simulator

@Suite(.serialized) struct SimulationTests {
    /// The seeds: `SIMULATION_SEEDS=first:count`. Few by default; `make soak` runs thousands.
    static let seeds: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["SIMULATION_SEEDS"] ?? ""
        let numbers = text.split(separator: ":").compactMap { UInt64($0) }
        return numbers.count == 2 ? numbers[0]..<numbers[0] + numbers[1] : 2100..<2140
    }()

    /// The least count of each kind of fault, for every hundred seeds. The rarest kinds occur a few times
    /// as often.
    private static let leastFaultsForHundredSeeds = 1.5
    /// With fewer seeds the counts are not checked.
    private static let leastSeedsForCounts = 1000

    @Test func `no seed loses, repeats or confuses a write`() async throws {
        let report = try await SimulationRuns(Self.seeds, atOnce: 4).run()
        for failure in report.failures {
            let text = failure.faults.prefix(3).joined(separator: "\n")
            Issue.record("SIMULATION_SEEDS=\(failure.seed):1 \(text)")
        }
        #expect(report.runs == Self.seeds.count)
        guard Self.seeds.count >= Self.leastSeedsForCounts else { return }
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

    /// Seeds that once found a bug. 324: an insert that the network sent twice; its refusal was followed by
    /// a failed read-back, and it counted as never sent. 2110: an operation that was rewritten as two while
    /// another one followed it. 1745: an insert that failed after it took effect; the proof after it was
    /// answered with 401, and it counted as never sent.
    @Test(arguments: [324, 2110, 1745] as [UInt64])
    func `a bug that a seed once found stays fixed`(seed: UInt64) async throws {
        let found = try await Simulation(Plan(seed)).run(steps: 60)
        #expect(found.faults.isEmpty, "seed \(seed): \(found.faults)")
    }

    /// The seed of `SIMULATION_STORY`, line by line.
    @Test(.enabled(if: Self.story != nil))
    func `the story of a seed`() async throws {
        let simulation = try Simulation(Plan(try #require(Self.story)))
        let outcome = try await simulation.run(steps: SimulationRuns.steps)
        for line in simulation.trace.lines + outcome.faults { print(line) }
        #expect(outcome.faults.isEmpty)
    }

    private static let story = ProcessInfo.processInfo.environment["SIMULATION_STORY"].flatMap {
        UInt64($0)
    }

    @Test func `a run that fails removes its files`() async throws {
        // An automatic run, with the engines' loops.
        let simulation = try Simulation(Plan(3), plantedBug: Breakdown())
        let folder = await simulation.rootFolder
        #expect(FileManager.default.fileExists(atPath: folder))
        await #expect(throws: Breakdown.self) { try await simulation.run(steps: 5) }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// Some seeds of each kind of run that is not automatic: one request at a time, four at a time, with
    /// parents, with a restored backend.
    @Test(arguments: [0, 1, 4, 5, 13, 20, 25, 41, 85, 95] as [UInt64])
    func `a seed gives the same trace twice`(seed: UInt64) async throws {
        let (first, second) = (try Simulation(Plan(seed)), try Simulation(Plan(seed)))
        _ = try await first.run(steps: SimulationRuns.steps)
        _ = try await second.run(steps: SimulationRuns.steps)
        #expect(first.trace.lines == second.trace.lines, "seed \(seed)")
    }
}

/// Fails a run after its first step.
private struct Breakdown: PlantedBug, Error {
    var startsLoops: Bool { true }
    func answer(
        _ request: Request, base: any HTTPTransport, random: SeededRandom
    ) async throws(TransportError) -> Response? { nil }
    func act(in proxy: SimulatedProxy, random: SeededRandom) async throws { throw self }
    func runsMaintenance(of proxy: SimulatedProxy) async throws -> Bool { false }
    func damage(storeAt path: String) throws {}
}
