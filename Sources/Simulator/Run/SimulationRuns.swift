import Synchronization

/// Many simulation runs, one for each seed, several at once.
package final class SimulationRuns: Sendable {
    /// The result of the runs.
    package struct Report: Sendable {
        /// The number of finished runs.
        package var runs = 0
        /// The number of steps.
        package var steps = 0
        /// The count of each kind of injected fault.
        package var faults: [String: Int] = [:]
        /// The runs that violated an invariant, ordered by seed.
        package var failures: [Failure] = []
    }

    /// A run that violated an invariant.
    package struct Failure: Sendable {
        /// The seed that repeats the run.
        package var seed: UInt64
        /// The violations: the number of the invariant, a sentence, and the part of the trace.
        package var faults: [String]
    }

    /// The steps of a run before every fault ends.
    package static let steps = 45

    private let seeds: Range<UInt64>
    private let atOnce: Int
    private let stopped = Mutex(false)

    /// Makes the runs of these seeds, of which `atOnce` run concurrently.
    package init(_ seeds: Range<UInt64>, atOnce: Int) {
        (self.seeds, self.atOnce) = (seeds, max(atOnce, 1))
    }

    /// Whether ``stop()`` was called.
    package var isStopped: Bool { stopped.withLock { $0 } }

    /// Starts no further run. Runs in progress finish and remove their files.
    package func stop() { stopped.withLock { $0 = true } }

    /// Performs all runs, unless they are stopped.
    /// - Parameter progress: called after each run with the number of finished runs.
    /// - Throws: why a run could not begin, such as a disk without free space.
    package func run(progress: (Int) -> Void = { _ in }) async throws -> Report {
        var report = Report()
        try await withThrowingTaskGroup(of: (UInt64, Simulation.Outcome, Trace).self) { group in
            var seeds = seeds.makeIterator()
            func begin() {
                guard !isStopped, let seed = seeds.next() else { return }
                group.addTask {
                    let simulation = try Simulation(Plan(seed))
                    do {
                        let outcome = try await simulation.run(steps: Self.steps)
                        return (seed, outcome, simulation.trace)
                    } catch {
                        let fault = "The run could not go on: \(error)"
                        let outcome = Simulation.Outcome(faults: [fault], steps: 0)
                        return (seed, outcome, simulation.trace)
                    }
                }
            }
            for _ in 0..<atOnce { begin() }
            while let (seed, outcome, trace) = try await group.next() {
                report.runs += 1
                report.steps += outcome.steps
                report.faults.merge(trace.faults, uniquingKeysWith: +)
                if !outcome.faults.isEmpty {
                    report.failures.append(Failure(seed: seed, faults: outcome.faults))
                }
                progress(report.runs)
                begin()
            }
        }
        report.failures.sort { $0.seed < $1.seed }
        return report
    }
}
