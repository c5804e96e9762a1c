import Logging
import Proxy
import Synchronization
import TablesProtocol

/// The log of this process on standard error: a line for each event, as text or as JSON. Messages are
/// constant; values are in the metadata. Contents of rows and tokens are never logged.
final class ProcessLog: Sendable {
    /// The format and the level, which can change while the process runs.
    struct Choice: Sendable, Hashable {
        /// Whether lines are JSON instead of text.
        var isJSON: Bool
        /// The lowest level that is written.
        var level: Logger.Level
    }

    // Atomic instead of a lock, since every request reads it.
    private let packed: Atomic<UInt8>
    private let write: @Sendable (String) -> Void
    /// The last lines, for a support bundle.
    let tail = LogTail(places: Limits.keptLogLines)

    /// Makes a log.
    /// - Parameter write: takes a line without its end.
    init(
        isJSON: Bool, level: Logger.Level,
        write: @escaping @Sendable (String) -> Void = ThisProcess.say
    ) {
        self.write = write
        packed = Atomic(Choice(isJSON: isJSON, level: level).packed)
    }

    /// A log by the settings in `sources`.
    convenience init(_ sources: Sources) throws(StartProblem) {
        let choice = try Choice(sources)
        self.init(isJSON: choice.isJSON, level: choice.level)
    }

    /// The format and the level from the next line on.
    var choice: Choice {
        get { Choice(packed: packed.load(ordering: .relaxed)) }
        set { packed.store(newValue.packed, ordering: .relaxed) }
    }

    /// The lowest level that is written.
    var level: Logger.Level {
        get { choice.level }
        set { choice = Choice(isJSON: choice.isJSON, level: newValue) }
    }

    /// Warns of the variables that are named like one of Understudy's and are none.
    func warn(of variables: [UnknownVariable]) {
        for variable in variables {
            logger.warning(
                "unknown variable",
                metadata: ["name": "\(variable.name)", "advice": "\(variable.advice)"])
        }
    }

    /// What the operator API says of this process.
    func report(_ settings: RunningSettings) -> ProcessReport {
        ProcessReport(
            settings: { settings.all }, libraries: ProcessReport.Library.linked,
            log: { [tail] in tail.lines })
    }

    /// A logger that writes here.
    var logger: Logger { Logger(label: "understudy") { _ in Handler(log: self) } }

    /// The line of an event, escaped as ``VisibleText``.
    func line(_ event: LogEvent, metadata: Logger.Metadata, at time: Instant) -> String {
        let sorted = metadata.sorted { $0.key < $1.key }
        if choice.isJSON {
            let members: [JSONValue.Member] = [
                .init("time", .string(time.text)), .init("level", .string(event.level.rawValue)),
                .init("message", .string("\(event.message)")),
            ]
            return VisibleText.json(
                JSONValue.object(
                    members + sorted.map { .init($0.key, Self.json($0.value)) }
                ).text)
        }
        let pairs = sorted.map { " \($0.key)=\($0.value)" }.joined()
        return VisibleText.line("\(time.text) \(event.level.rawValue) \(event.message)\(pairs)")
    }

    /// A number stays a number, if it was given as one.
    private static func json(_ value: Logger.MetadataValue) -> JSONValue {
        switch value {
        case .stringConvertible(let number as Int): .number(number)
        case .stringConvertible(let number as JSONNumber): .number(number)
        case .string, .stringConvertible, .array, .dictionary: .string("\(value)")
        }
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
            let line = log.line(event, metadata: all, at: ThisProcess.now)
            log.tail.append(line)
            log.write(line)
        }
    }
}

extension ProcessLog.Choice {
    private static let levels = Logger.Level.allCases

    /// Both values in one byte.
    fileprivate var packed: UInt8 {
        UInt8(Self.levels.firstIndex(of: level) ?? 0) << 1 | (isJSON ? 1 : 0)
    }

    /// The values in a byte of ``packed``.
    fileprivate init(packed: UInt8) {
        (isJSON, level) = (packed & 1 == 1, Self.levels[Int(packed >> 1)])
    }

    /// The values by the settings in `sources`.
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
