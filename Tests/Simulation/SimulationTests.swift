import Foundation
import ReferenceBackend
import Testing

@testable import SyncCore

@Suite struct SimulationTests {
    private func life(
        _ seed: UInt64, flavour: BackendFlavour? = nil, steps: Int = 60, parallelism: Int = 1,
        canary: Weather.Canary? = nil
    ) async throws -> (faults: [String], trace: [String], kinds: [String: Int]) {
        let flavours: [BackendFlavour] = [.mobileApps, .node, .dotnet]
        let simulation = try Simulation(
            seed: seed, flavour: flavour ?? flavours[Int(seed % 3)], parallelism: parallelism,
            canary: canary)
        let faults = try await simulation.live(steps: steps)
        return (faults, simulation.weather.trace, simulation.weather.faults)
    }

    /// Seeds to live through: 300, or `SIMULATION_SEEDS=first:count`.
    static let seeds: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["SIMULATION_SEEDS"] ?? "0:300"
        let numbers = text.split(separator: ":").compactMap { UInt64($0) }
        return numbers.count == 2 ? numbers[0]..<numbers[0] + numbers[1] : 0..<300
    }()

    @Test(arguments: seeds)
    func `no seed loses, repeats or confuses a write`(seed: UInt64) async throws {
        let found = try await life(seed, parallelism: seed % 5 == 0 ? 4 : 1)
        #expect(
            found.faults.isEmpty,
            "seed \(seed): \(found.faults.prefix(3).joined(separator: "\n"))")
    }

    /// Seeds that once found something: a clock set back while the process was gone.
    @Test(arguments: [1080, 2035, 2036, 2165] as [UInt64])
    func `what a seed found stays mended`(seed: UInt64) async throws {
        let found = try await life(seed, parallelism: seed % 5 == 0 ? 4 : 1)
        #expect(found.faults.isEmpty, "seed \(seed): \(found.faults)")
    }

    @Test(arguments: [3, 17, 42] as [UInt64])
    func `a seed tells the same story twice`(seed: UInt64) async throws {
        let first = try await life(seed)
        let second = try await life(seed)
        #expect(first.trace == second.trace, "seed \(seed)")
    }

    @Test(arguments: [Weather.Canary.swallows, .doubles])
    func `a planted bug is found`(canary: Weather.Canary) async throws {
        for seed in 0..<30 as Range<UInt64> {
            if try await !life(seed, flavour: .mobileApps, canary: canary).faults.isEmpty { return }
        }
        Issue.record("the canary lives")
    }

    @Test func `every kind of fault happens`() async throws {
        var kinds: Set<String> = []
        for seed in 0..<40 as Range<UInt64> {
            kinds.formUnion(try await life(seed, steps: 40).kinds.keys)
        }
        #expect(kinds == Set(Weather.kinds))
    }
}
