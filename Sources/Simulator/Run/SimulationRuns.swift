import Synchronization

/// Many simulation runs, one for each seed, several at once.
package final class SimulationRuns: Sendable {
    /// What came of them.
    package struct Report: Sendable {
        /// Runs that are over.
        package var runs = 0
        /// Steps that were taken.
        package var steps = 0
        /// How often each kind of fault happened.
        package var faults: [String: Int] = [:]
        /// The runs in which a promise was broken, by seed.
        package var failures: [Failure] = []
    }

    /// A run in which a promise was broken.
    package struct Failure: Sendable {
        /// The seed that gives the same run again.
        package var seed: UInt64
        /// What was found: the number of the invariant, a sentence, and the part of the trace.
        package var faults: [String]
    }

    /// Steps of a run before every fault ends.
    package static let steps = 45

    private let seeds: Range<UInt64>
    private let atOnce: Int
    private let stopped = Mutex(false)

    /// The runs of these seeds, so many at once.
    package init(_ seeds: Range<UInt64>, atOnce: Int) {
        (self.seeds, self.atOnce) = (seeds, max(atOnce, 1))
    }

    /// Whether ``stop()`` was called.
    package var isStopped: Bool { stopped.withLock { $0 } }

    /// Lets no further run begin. Those under way go on to their ends, which leave nothing behind.
    package func stop() { stopped.withLock { $0 = true } }

    /// Carries all of them out, unless it is stopped.
    /// - Parameter progress: told how many runs are over, after each.
    /// - Throws: what kept a run from beginning, such as a disk without room for its stores.
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
