import Foundation

/// Everything that one run found out; what results/latest.json holds.
struct Report: Codable {
    struct Machine: Codable {
        var cores: Int
        var processor: String
        var system: String
        /// The share of all cores that others used in the second before the run began.
        var busy: Double
    }
    struct Module: Codable {
        var name: String
        var files: Int
        var lines: Int
    }
    struct Failure: Codable {
        var row: Int
        var reason: String
    }

    var date: Date
    var commit: String
    var machine: Machine
    var scale: Double
    var rounds: Int
    /// The files and lines of each module.
    var modules: [Module]
    /// Bytes of the program as built, symbols included.
    var binaryBytes: Int
    /// Bytes of the program as it is installed, without its symbols; nil where nothing can strip it.
    var installedBytes: Int?
    var measurements: [Measurement] = []
    /// Rows that did not run to their end.
    var failures: [Failure] = []

    init(_ stage: Stage) throws {
        date = Date()
        scale = stage.scale
        rounds = stage.rounds
        let git = ["git", "-C", Places.package.path, "describe", "--always", "--dirty"]
        commit =
            (try? Program("/usr/bin/env", git, in: stage).finish())?
            .trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
        let info = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
        let model = info?.split(separator: "\n").first { $0.hasPrefix("model name") }
        machine = Machine(
            cores: ProcessInfo.processInfo.activeProcessorCount,
            processor: model?.split(separator: ":").last
                .map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown",
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            busy: Self.busy())
        let attributes = try FileManager.default.attributesOfItem(
            atPath: stage.places.understudy.path)
        modules = Self.modules(stage)
        binaryBytes = attributes[.size] as? Int ?? 0
        installedBytes = Self.installedBytes(stage)
    }

    /// What `scripts/count` says; nothing where it cannot run.
    private static func modules(_ stage: Stage) -> [Module] {
        let script = Places.package.deletingLastPathComponent().appending(path: "scripts/count")
        let text = (try? Program("/usr/bin/env", ["bash", script.path], in: stage).finish()) ?? ""
        return text.split(separator: "\n").compactMap { line in
            // Folder, files, median, largest, lines; the totals' names have a space.
            let fields = line.split(separator: " ")
            guard fields.count == 5, fields[0].hasPrefix("Sources/"), let files = Int(fields[1]),
                let lines = Int(fields[4])
            else { return nil }
            return Module(name: String(fields[0].dropFirst(8)), files: files, lines: lines)
        }
    }

    /// Strips a copy of the program as `scripts/install` does.
    private static func installedBytes(_ stage: Stage) -> Int? {
        let copy = stage.places.scratch.appending(path: "understudy-installed")
        defer { try? FileManager.default.removeItem(at: copy) }
        let strip = [
            "strip", "--strip-unneeded", "-o", copy.path, stage.places.understudy.path,
        ]
        guard (try? Program("/usr/bin/env", strip, in: stage).finish()) != nil else { return nil }
        return try? FileManager.default.attributesOfItem(atPath: copy.path)[.size] as? Int
    }

    /// Listens for a second. Load averages would count the build before.
    private static func busy() -> Double {
        let (before, _, after) = (ticks(), sleep(1), ticks())
        let all = after.all - before.all
        return all > 0 ? 1 - (after.idle - before.idle) / all : 0
    }

    /// Ticks of all cores since the machine started: idle ones, those that wait for a disk among
    /// them, and all.
    private static func ticks() -> (idle: Double, all: Double) {
        let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let counts = (text?.split(separator: "\n").first ?? "").split(separator: " ").dropFirst()
            .compactMap { Double($0) }
        // user nice system idle iowait irq softirq steal; guest time is in user already.
        guard counts.count >= 8 else { return (0, 0) }
        return (counts[3] + counts[4], counts.prefix(8).reduce(0, +))
    }

    func write(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.dateEncodingStrategy = .iso8601
        // A side that finished nothing makes a ratio of infinity, or of nothing by nothing.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try encoder.encode(self).write(to: url)
    }

    init(from url: URL) throws {
        guard let data = try? Data(contentsOf: url) else {
            throw Trouble("There is no \(url.path): run 'make bench' first.")
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        self = try decoder.decode(Report.self, from: data)
    }
}
