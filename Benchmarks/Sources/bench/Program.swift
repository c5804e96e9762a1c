import Foundation
import Synchronization

/// A process that the harness started. What it writes to stderr goes to a log in the scratch folder.
final class Program {
    /// All that run now, so that an interrupted run leaves none behind.
    private static let running = Mutex<Set<pid_t>>([])

    private let process = Process()
    private let output = Pipe()
    private let log: URL

    var id: pid_t { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// Starts a program.
    /// - Parameters:
    ///   - preload: a library that is loaded before all others.
    ///   - environment: what is set besides the harness's own environment.
    init(
        _ path: String, _ arguments: [String], in stage: Stage, preload: String? = nil,
        environment: [String: String] = [:]
    ) throws {
        let name = URL(filePath: path).lastPathComponent
        log = stage.places.scratch.appending(path: "\(name).log")
        if !FileManager.default.fileExists(atPath: log.path) {
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        }
        let errors = try FileHandle(forWritingTo: log)
        try errors.seekToEnd()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        var all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let preload { all["LD_PRELOAD"] = preload }
        process.environment = all
        try process.run()
        let id = process.processIdentifier
        Self.running.withLock { _ = $0.insert(id) }
    }

    /// The first line that it prints.
    func firstLine() throws -> String {
        var bytes = Data()
        while !bytes.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw Trouble("\(name) ended without a line; see \(log.path)") }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
            ?? ""
    }

    /// Waits for its end and returns what it printed.
    func finish() throws -> String {
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        ended()
        guard process.terminationStatus == 0 else {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            throw Trouble(
                "\(name) ended with \(process.terminationStatus): \(text.suffix(400))")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Ends it and waits.
    func stop() {
        if process.isRunning { process.terminate() }
        ended()
    }

    /// Interrupts it and waits for its end.
    func interrupt() {
        if process.isRunning { process.interrupt() }
        ended()
    }

    private var name: String { process.executableURL?.lastPathComponent ?? "" }

    private func ended() {
        process.waitUntilExit()
        let id = process.processIdentifier
        Self.running.withLock { _ = $0.remove(id) }
    }

    /// From now on an interrupt ends every process that this run started, then the run.
    static func stopAllOnInterrupt(then clean: @escaping @Sendable () -> Void) -> [AnyObject] {
        [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                running.withLock { for id in $0 { kill(id, SIGTERM) } }
                clean()
                exit(130)
            }
            source.resume()
            return source as AnyObject
        }
    }
}

extension Program {
    /// Runs a program to its end and reads the one line of JSON that it prints.
    static func measure<Answer: Decodable>(
        _ path: String, _ arguments: [String], in stage: Stage, preload: String? = nil
    ) throws -> Answer {
        try Program(path, arguments, in: stage, preload: preload).figures()
    }

    /// Waits for its end and reads the one line of JSON that it printed.
    func figures<Answer: Decodable>() throws -> Answer {
        let text = try finish()
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("{") }) else {
            throw Trouble("\(name) printed no figures: \(text)")
        }
        return try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
    }
}

/// What the bare programs print.
struct Count: Decodable {
    var count: Int
    var seconds: Double
    var perSecond: Double { Double(count) / seconds }
}
