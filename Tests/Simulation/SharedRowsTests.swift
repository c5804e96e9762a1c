import Foundation
import Testing

@testable import Simulator

/// Runs in which several writers write the same rows. They must find the bugs of `Tests/Mutations`.
@Suite struct SharedRowsTests {
    /// The seeds: `SHARED_SEEDS=first:count`.
    static let seeds: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["SHARED_SEEDS"] ?? ""
        let numbers = text.split(separator: ":").compactMap { UInt64($0) }
        return numbers.count == 2 ? numbers[0]..<numbers[0] + numbers[1] : 0..<40
    }()
    /// The habits instead of those of the seeds: `SHARED_HABITS=refusals+crowdedRows`.
    private static let habits = words("SHARED_HABITS").map { Set($0.compactMap(BackendHabit.init)) }
    /// The settings beside those of the seeds: `SHARED_SETTINGS=plain+merges`.
    private static let settings = words("SHARED_SETTINGS").map { names in
        Set(names.compactMap(SharedRowsPlan.Setting.init))
    }
    private static let steps = 60
    private static func words(_ variable: String) -> [String]? {
        ProcessInfo.processInfo.environment[variable].map {
            $0.split(separator: "+").map(String.init)
        }
    }

    /// The seeds in four parts that run in parallel.
    static let parts: [[UInt64]] = (0..<4).map { part in seeds.filter { $0 % 4 == part } }

    @Test(arguments: parts)
    func `no value of another writer is replaced unseen or lost`(seeds: [UInt64])
        async throws
    {
        for seed in seeds {
            let plan = SharedRowsPlan(
                seed, habits: Self.habits, settings: Self.settings ?? [])
            let found = try await SharedRows(plan).run(steps: Self.steps)
            for fault in found.prefix(1) { Issue.record("SHARED_SEEDS=\(seed):1 \(fault)") }
        }
    }
}
