import ArgumentParser
import Foundation

/// Measures Understudy against the bare libraries under it.
@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures Understudy against the bare libraries under it.",
        subcommands: [Measure.self, Check.self], defaultSubcommand: Measure.self)
}

/// Runs rows and prints the table.
struct Measure: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the rows, print the table, write the results.")

    @Option(help: "The rows, such as 1,2,13; all unless named.")
    var only: String?
    @Option(help: "Interleaved rounds; rows that take long run at most three.")
    var rounds = 5
    @Option(help: "1 for the sizes of the thresholds; 0.01 to try things out.")
    var scale = 1.0
    @Option(help: "The program to measure; .build/release/understudy unless named.")
    var binary: String?
    @Option(help: "Where stores are made, on the disk to be measured; in .build unless named.")
    var scratch: String?

    /// The numbers of ``only``.
    private var numbers: Set<Int>? {
        only.map { Set($0.split(separator: ",").compactMap { Int($0) }) }
    }

    func validate() throws {
        let known = rows.map(\.number)
        if let only, only.split(separator: ",").contains(where: { !known.contains(Int($0) ?? 0) }) {
            throw ValidationError("--only takes numbers of rows, 1 to \(known.count), with commas.")
        }
        if rounds < 1 || scale <= 0 || scale > 1 {
            throw ValidationError("--rounds is 1 or more, --scale above 0 and at most 1.")
        }
    }

    func run() throws {
        let places = try Places(understudy: binary, scratch: scratch)
        let folder = places.scratch
        let clean: @Sendable () -> Void = { try? FileManager.default.removeItem(at: folder) }
        let interrupts = Program.stopAllOnInterrupt(then: clean)
        defer { withExtendedLifetime(interrupts, clean) }

        let stage = try Stage(places: places, scale: scale, rounds: rounds)
        let thresholds = try Thresholds(from: Places.thresholds)
        var report = try Report(stage)
        for row in rows where numbers?.contains(row.number) ?? true {
            stage.say("row \(row.number): \(row.title)")
            do {
                for one in try row.measure(stage) {
                    stage.say("  \(one.id): \(one.judged.figure)")
                    report.measurements.append(one)
                }
            } catch {
                stage.say("  \(error)")
                report.failures.append(.init(row: row.number, reason: "\(error)"))
            }
            // After each row, so that a long run that is cut short leaves what it found.
            try report.write(to: Places.results)
        }
        print(Table(report: report, thresholds: thresholds).text)
        if !report.failures.isEmpty { throw ExitCode(1) }
    }
}

/// Judges the last results.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fail when a threshold is missed in the last results.")

    func run() throws {
        let report = try Report(from: Places.results)
        let thresholds = try Thresholds(from: Places.thresholds)
        let objections = thresholds.objections(to: report)
        for objection in objections { print(objection) }
        if !objections.isEmpty { throw ExitCode(1) }
        print("ok: every threshold holds")
    }
}
