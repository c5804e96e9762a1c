import Logging
import Synchronization
import TablesProtocol

/// The log of this process, on standard error: a line for each event, as text or as JSON. Messages
/// are constant; what differs is metadata. Contents of rows and tokens are never logged.
final class ProcessLog: Sendable {
    /// How it is written; it can be changed while the process runs.
    struct Choice: Sendable, Hashable {
        /// JSON instead of text.
        var isJSON: Bool
        /// The least that is written.
        var level: Logger.Level
    }

    private let state: Mutex<Choice>
    private let write: @Sendable (String) -> Void

    /// Makes a log.
    /// - Parameter write: takes a line without its end.
    init(
        isJSON: Bool, level: Logger.Level,
        write: @escaping @Sendable (String) -> Void = ThisProcess.say
    ) {
        self.write = write
        state = Mutex(Choice(isJSON: isJSON, level: level))
    }

    /// The log as the sources say it.
    convenience init(_ sources: Sources) throws(StartProblem) {
        let choice = try Choice(sources)
        self.init(isJSON: choice.isJSON, level: choice.level)
    }

    /// How it is written from the next line on.
    var choice: Choice {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// The least that is written.
    var level: Logger.Level {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// A logger that writes here.
    var logger: Logger { Logger(label: "understudy") { _ in Handler(log: self) } }

    /// One line.
    func line(_ event: LogEvent, metadata: Logger.Metadata, at time: Instant) -> String {
        let sorted = metadata.sorted { $0.key < $1.key }
        if choice.isJSON {
            let members: [JSONValue.Member] = [
                .init("time", .string(time.text)), .init("level", .string(event.level.rawValue)),
                .init("message", .string("\(event.message)")),
            ]
            return JSONValue.object(
                members + sorted.map { .init($0.key, .string("\($0.value)")) }
            ).text
        }
        let pairs = sorted.map { " \($0.key)=\($0.value)" }.joined()
        return "\(time.text) \(event.level.rawValue) \(event.message)\(pairs)"
    }

    private struct Handler: LogHandler {
        let log: ProcessLog
        var metadata: Logger.Metadata = [:]

        var logLevel: Logger.Level {
            get { log.level }
            set { log.level = newValue }
        }

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            log.write(log.line(event, metadata: all, at: ThisProcess.now))
        }
    }
}

extension ProcessLog.Choice {
    /// As the sources say it.
    init(_ sources: Sources) throws(StartProblem) {
        do {
            let format = try sources.value(Settings.logFormat) ?? .auto
            isJSON = format == .json || (format == .auto && !ThisProcess.isInteractive)
            level = try sources.value(Settings.logLevel) ?? .notice
        } catch {
            throw error.startProblem
        }
    }
}
