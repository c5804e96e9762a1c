import Logging
import Synchronization

/// A log that keeps its lines.
final class CollectedLog: Sendable {
    struct Line: Sendable, Hashable {
        var level: Logger.Level
        var message: String
        /// The values of the fields as text.
        var fields: [String: String]
    }

    private let kept = Mutex<[Line]>([])

    var lines: [Line] { kept.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).mapValues { "\($0)" }
            log.kept.withLock {
                $0.append(Line(level: event.level, message: "\(event.message)", fields: fields))
            }
        }
    }
}
