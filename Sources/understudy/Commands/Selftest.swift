import ArgumentParser
import HTTPServer
import Program
import Proxy
import Simulator
import TablesProtocol
import UnixSignals

/// `understudy selftest`.
struct Selftest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "selftest",
        abstract: "Prove on this machine that no write is lost, repeated or confused.",
        discussion: """
            Plays clients, stores, engines and a backend in memory, on time of their own, with faults \
            drawn from a seed: lost, late, repeated and torn answers, crashes at any commit or \
            request, a full disk, clocks that jump, a backend that is restored. After each step every \
            promise is checked. Touches no data folder and opens no socket. The same seed gives the \
            same run; only where engines sync by themselves (seeds that leave 3 when divided by 7) \
            may two steps of the same moment change places. Ends with 1 when a promise was broken. \
            JSON: {seeds: {from, count}, lives, steps, seconds, faults, invariants: [{id, promise}], \
            failures: [{seed, faults}]}.
            """)

    @Option(help: "How many runs, one for each seed.")
    var seeds = 100

    @Option(help: "The first seed.")
    var seedFrom: UInt64 = 0

    @Flag(help: "Print the story of a single seed, line by line.")
    var story = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard seeds > 0, UInt64(seeds) <= .max - seedFrom else {
            throw ValidationError("Say how many seeds: at least 1.")
        }
        guard !story || seeds == 1 else {
            throw ValidationError("A story is that of one seed: add --seeds 1.")
        }
    }

    func run() async throws {
        if story { return try await printStory() }
        let began = SystemClock().uptime()
        let runs = SimulationRuns(
            seedFrom..<seedFrom + UInt64(seeds), atOnce: ServerConfiguration.cores)
        let report = try await runUntilSignal(runs)
        let answer = SelftestReport(
            report, from: seedFrom, count: seeds,
            seconds: Int((SystemClock().uptime() - began).components.seconds))
        if json {
            ThisProcess.print(json: answer.json.text)
        } else {
            for line in answer.lines { ThisProcess.print(line) }
        }
        if !report.failures.isEmpty { throw ExitStatus.error }
    }

    /// Executes the runs with a progress bar. After a signal, the current runs end before the process does,
    /// since their files may be in memory. A second signal ends the process at once.
    private func runUntilSignal(_ runs: SimulationRuns) async throws -> SimulationRuns.Report {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: SimulationRuns.Report?.self) { tasks in
            tasks.addTask {
                var first: UnixSignal?
                for await signal in signals {
                    if first != nil { break }
                    first = signal
                    runs.stop()
                }
                if let first { ThisProcess.end(first == .sigint ? 130 : 143) }
                return nil
            }
            tasks.addTask {
                var bar = ProgressBar()
                let report = try await runs.run { bar.draw("selftest", done: $0, total: seeds) }
                bar.end()
                return report
            }
            var finished: SimulationRuns.Report?
            for try await report in tasks {
                guard let report else { continue }
                finished = report
                tasks.cancelAll()
            }
            guard let finished else { throw CancellationError() }
            return finished
        }
    }

    private func printStory() async throws {
        let simulation = try Simulation(Plan(seedFrom))
        let outcome = try await simulation.run(steps: SimulationRuns.steps)
        for line in simulation.trace.lines { ThisProcess.print(line) }
        for fault in outcome.faults { ThisProcess.print(fault) }
        if !outcome.faults.isEmpty { throw ExitStatus.error }
    }
}

/// The result of a self-test, as text and as JSON.
struct SelftestReport {
    private let report: SimulationRuns.Report
    private let from: UInt64
    private let count: Int
    private let seconds: Int

    /// - Parameters:
    ///   - from: the first seed.
    ///   - count: the number of seeds.
    ///   - seconds: the duration.
    init(_ report: SimulationRuns.Report, from: UInt64, count: Int, seconds: Int) {
        (self.report, self.from, self.count, self.seconds) = (report, from, count, seconds)
    }

    /// The kinds of faults, the most frequent first.
    private var faults: [(kind: String, count: Int)] {
        report.faults.map { ($0.key, $0.value) }
            .sorted { ($1.count, $0.kind) < ($0.count, $1.kind) }
    }

    /// The JSON of `--json`.
    var json: JSONValue {
        .members(
            (
                "seeds",
                .members(("from", .number(Int(clamping: from))), ("count", .number(count)))
            ),
            ("lives", .number(report.runs)), ("steps", .number(report.steps)),
            ("seconds", .number(seconds)),
            ("faults", .object(faults.map { .init($0.kind, .number($0.count)) })),
            (
                "invariants",
                .array(
                    Invariant.allCases.map {
                        .members(("id", .string($0.rawValue)), ("promise", .string($0.sentence)))
                    })
            ),
            (
                "failures",
                .array(
                    report.failures.map { failure in
                        .members(
                            ("seed", .number(Int(clamping: failure.seed))),
                            ("faults", .array(failure.faults.map { .string($0) })))
                    })
            ))
    }

    /// The lines of the text.
    var lines: [String] {
        let seeds = count == 1 ? "seed \(from)" : "seeds \(from) to \(from + UInt64(count) - 1)"
        let runs = report.runs == 1 ? "1 run" : "\(report.runs) runs"
        var lines = [
            "\(runs), \(seeds), \(report.steps) steps, \(seconds) s",
            "", "What went wrong on purpose:",
        ]
        lines += faults.map { "  \($0.kind): \($0.count)" }
        lines += ["", "What was checked after each step, and at the end of each run:"]
        lines += Invariant.allCases.map { "  \($0.rawValue)  \($0.sentence)" }
        lines.append("")
        guard !report.failures.isEmpty else { return lines + ["Every promise was kept."] }
        for failure in report.failures {
            let sentence = failure.faults.first?.split(separator: "\n").first ?? ""
            lines.append("Seed \(failure.seed) broke a promise. \(sentence)")
        }
        let seed = report.failures[0].seed
        return lines + ["The story: understudy selftest --seed-from \(seed) --seeds 1 --story"]
    }
}
