import Backend
import Testing

@testable import Simulator

/// For every invariant there is a planted bug that violates it, and its check finds the bug. Runs are
/// serialized, because each has threads that wait for each other.
@Suite(.serialized) struct PlantedBugTests {
    /// The generations for which every bug is tested.
    enum Kind: String, CaseIterable {
        case first, second, third

        var flavours: [BackendFlavour] {
            switch self {
            case .first: [.mobileServices]
            case .second: [.mobileApps, .node, .dotnet]
            case .third: [.datasync, .toolkit]
            }
        }
    }

    /// The seeds within which a bug has to be found.
    private static let seeds = 0..<60 as Range<UInt64>

    @Test(arguments: Bug.allCases, Kind.allCases)
    func `a planted bug is found`(bug: Bug, kind: Kind) async throws {
        var others: [String] = []
        for seed in Self.seeds {
            var plan = Plan(seed)
            plan.flavour = kind.flavours[Int(seed) % kind.flavours.count]
            plan.parallelism = 1
            plan.isRestored = false
            plan.isAutomatic = bug == .neverStartsLoop
            plan.hasParents = bug == .delaysInsert
            let simulation = try Simulation(plan, plantedBug: WorldBug(bug))
            let found = try await simulation.run(steps: SimulationRuns.steps).faults
            if found.contains(where: { $0.hasPrefix(bug.invariant.rawValue + ":") }) { return }
            others += found.map { String($0.prefix(80)) }
        }
        Issue.record("\(bug) is not found, but: \(others.prefix(5))")
    }

    @Test func `every invariant has a planted bug`() {
        #expect(Set(Bug.allCases.map(\.invariant)) == Set(Invariant.allCases))
    }
}
