import Proxy
import Simulator
import TablesProtocol

/// What a self-test found, for a person and for a program.
struct SelftestReport {
    private let report: Lives.Report
    private let from: UInt64
    private let count: Int
    private let seconds: Int

    /// - Parameters:
    ///   - from: the first seed.
    ///   - count: how many there were.
    ///   - seconds: how long it took.
    init(_ report: Lives.Report, from: UInt64, count: Int, seconds: Int) {
        (self.report, self.from, self.count, self.seconds) = (report, from, count, seconds)
    }

    /// The kinds of faults, the most frequent first.
    private var faults: [(kind: String, count: Int)] {
        report.faults.map { ($0.key, $0.value) }
            .sorted { ($1.count, $0.kind) < ($0.count, $1.kind) }
    }

    /// As `--json` prints it.
    var json: JSONValue {
        .members(
            (
                "seeds",
                .members(("from", .number(Int(clamping: from))), ("count", .number(count)))
            ),
            ("lives", .number(report.lives)), ("steps", .number(report.steps)),
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

    /// As a person reads it.
    var lines: [String] {
        let seeds = count == 1 ? "seed \(from)" : "seeds \(from) to \(from + UInt64(count) - 1)"
        let lives = report.lives == 1 ? "1 life" : "\(report.lives) lives"
        var lines = [
            "\(lives), \(seeds), \(report.steps) steps, \(seconds) s",
            "", "What went wrong on purpose:",
        ]
        lines += faults.map { "  \($0.kind): \($0.count)" }
        lines += ["", "What was checked after each step, and at the end of each life:"]
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
