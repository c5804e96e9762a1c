import Foundation

/// Everything that one run found out; what results/latest.json holds.
struct Report: Codable {
    struct Machine: Codable {
        var cores: Int
        var processor: String
        var system: String
        /// Load average when the run began: a figure above the cores says that it was disturbed.
        var load: Double
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
    /// Bytes of the program as built, symbols included.
    var binaryBytes: Int
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
        let load = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
        machine = Machine(
            cores: ProcessInfo.processInfo.activeProcessorCount,
            processor: model?.split(separator: ":").last
                .map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown",
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            load: load?.split(separator: " ").first.flatMap { Double($0) } ?? 0)
        let attributes = try FileManager.default.attributesOfItem(
            atPath: stage.places.understudy.path)
        binaryBytes = attributes[.size] as? Int ?? 0
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
