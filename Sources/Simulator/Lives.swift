import Synchronization

/// Many lives, one for each seed, several at once.
package final class Lives: Sendable {
    /// What came of them.
    package struct Report: Sendable {
        /// Lives that are over.
        package var lives = 0
        /// Steps that were lived through.
        package var steps = 0
        /// How often each kind of fault happened.
        package var faults: [String: Int] = [:]
        /// The lives in which a promise was broken, by seed.
        package var failures: [Failure] = []
    }

    /// A life in which a promise was broken.
    package struct Failure: Sendable {
        /// The seed that tells the same story again.
        package var seed: UInt64
        /// What was found: the number of the invariant, a sentence, and the part of the story.
        package var faults: [String]
    }

    /// Steps of a life before all is healed.
    package static let steps = 45

    private let seeds: Range<UInt64>
    private let atOnce: Int
    private let stopped = Mutex(false)

    /// The lives of these seeds, so many at once.
    package init(_ seeds: Range<UInt64>, atOnce: Int) {
        (self.seeds, self.atOnce) = (seeds, max(atOnce, 1))
    }

    /// Whether ``stop()`` was called.
    package var isStopped: Bool { stopped.withLock { $0 } }

    /// Lets no further life begin. Those under way go on to their ends, which leave nothing behind.
    package func stop() { stopped.withLock { $0 = true } }

    /// Lives through all of them, unless it is stopped.
    /// - Parameter progress: told how many lives are over, after each.
    /// - Throws: what kept a life from beginning, such as a disk without room for its stores.
    package func live(progress: (Int) -> Void = { _ in }) async throws -> Report {
        var report = Report()
        try await withThrowingTaskGroup(of: (UInt64, Simulation.Outcome, Trace).self) { group in
            var seeds = seeds.makeIterator()
            func begin() {
                guard !isStopped, let seed = seeds.next() else { return }
                group.addTask {
                    let life = try Simulation(Plan(seed))
                    do {
                        return (seed, try await life.live(steps: Self.steps), life.trace)
                    } catch {
                        let fault = "The life could not go on: \(error)"
                        return (seed, Simulation.Outcome(faults: [fault], steps: 0), life.trace)
                    }
                }
            }
            for _ in 0..<atOnce { begin() }
            while let (seed, outcome, trace) = try await group.next() {
                report.lives += 1
                report.steps += outcome.steps
                report.faults.merge(trace.faults, uniquingKeysWith: +)
                if !outcome.faults.isEmpty {
                    report.failures.append(Failure(seed: seed, faults: outcome.faults))
                }
                progress(report.lives)
                begin()
            }
        }
        report.failures.sort { $0.seed < $1.seed }
        return report
    }
}
