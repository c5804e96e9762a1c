import HTTPMessage
package import HTTPServer
import HTTPTypes
package import Logging
package import Platform
import Synchronization
package import TablesProtocol

/// Logs each request that has ended, at the level `debug`. At a higher level nothing is collected.
package struct RequestLog: RequestObserver {
    package let log: Logger

    package init(log: Logger) { self.log = log }

    /// Whether the log has the level `debug`.
    package var isWatching: Bool { log.logLevel <= .debug }

    /// Logs a request. Bytes that libmicrohttpd could not read are not logged; they count as a refused
    /// request.
    package func ended(_ request: EndedRequest) {
        guard request.head != nil || request.status != nil else { return }
        log.debug("request ended", metadata: Self.fields(request))
    }

    package static func fields(_ request: EndedRequest) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            "bytes": .stringConvertible(request.bodyBytes)
        ]
        fields["milliseconds"] = JSONNumber(milliseconds(request.duration)).map {
            .stringConvertible($0)
        }
        if let head = request.head {
            fields["method"] = "\(head.method.rawValue)"
            fields["path"] = "\(LoggedPath(target: head.path ?? "/").text)"
            fields["trace"] = head.headerFields[.traceparent].flatMap { TraceParent($0) }
                .map { "\($0.traceID)" }
        }
        fields["status"] = request.status.map { .stringConvertible($0.code) }
        if !request.isWhole { fields["cut"] = "yes" }
        return fields
    }

    /// A time such as `12.345`.
    private static func milliseconds(_ time: Duration) -> String {
        let microseconds =
            time.components.seconds * 1_000_000
            + time.components.attoseconds / 1_000_000_000_000
        let rest = String(microseconds % 1000)
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}

/// The log of this process on standard error: a line for each event, as text or as JSON. Messages are
/// constant; values are in the metadata. Contents of rows and tokens are never logged.
package final class ProcessLog: Sendable {
    /// The format and the level, which can change while the process runs.
    package struct Choice: Sendable, Hashable {
        /// Whether lines are JSON instead of text.
        package var isJSON: Bool
        /// The lowest level that is written.
        package var level: Logger.Level
    }

    // Atomic instead of a lock, since every request reads it.
    private let packed: Atomic<UInt8>
    private let write: @Sendable (String) -> Void
    /// The last lines, which the operator API shows.
    package let tail = LogTail(places: Limits.keptLogLines)

    /// Makes a log.
    /// - Parameter write: takes a line without its end.
    package init(
        isJSON: Bool, level: Logger.Level,
        write: @escaping @Sendable (String) -> Void = ThisProcess.say
    ) {
        self.write = write
        packed = Atomic(Choice(isJSON: isJSON, level: level).packed)
    }

    /// A log by the settings in `sources`.
    package convenience init(_ sources: Sources) throws(StartProblem) {
        let choice = try Choice(sources)
        self.init(isJSON: choice.isJSON, level: choice.level)
    }

    /// The format and the level from the next line on.
    package var choice: Choice {
        get { Choice(packed: packed.load(ordering: .relaxed)) }
        set { packed.store(newValue.packed, ordering: .relaxed) }
    }

    /// The lowest level that is written.
    package var level: Logger.Level {
        get { choice.level }
        set { choice = Choice(isJSON: choice.isJSON, level: newValue) }
    }

    /// Warns of the variables that are named like one of Understudy's and are none.
    package func warn(of variables: [UnknownVariable]) {
        for variable in variables {
            logger.warning(
                "unknown variable",
                metadata: ["name": "\(variable.name)", "advice": "\(variable.advice)"])
        }
    }

    package var logger: Logger { Logger(label: "understudy") { _ in Handler(log: self) } }

    /// The line of an event, escaped as ``VisibleText``.
    package func line(_ event: LogEvent, metadata: Logger.Metadata, at time: Instant) -> String {
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
    package init(_ sources: Sources) throws(StartProblem) {
        do {
            let format = try sources.valueOrDefault(Settings.logFormat)
            isJSON = format == .json || (format == .auto && !ThisProcess.isInteractive)
            level = try sources.valueOrDefault(Settings.logLevel)
        } catch {
            throw error.startProblem
        }
    }
}

package final class LogTail: Sendable {
    private struct Kept {
        var lines: [String] = []
        /// The index of the oldest line, once as many lines are kept as may be.
        var oldest = 0
    }
    private let kept = Mutex(Kept())
    private let places: Int

    /// - Parameter places: how many lines are kept.
    package init(places: Int) { self.places = places }

    /// Adds a line. At the limit it replaces the oldest one.
    package func append(_ line: String) {
        kept.withLock { kept in
            if kept.lines.count < places { return kept.lines.append(line) }
            kept.lines[kept.oldest] = line
            kept.oldest = (kept.oldest + 1) % places
        }
    }

    /// The lines, the oldest first.
    package var lines: [String] {
        kept.withLock { Array($0.lines[$0.oldest...] + $0.lines[..<$0.oldest]) }
    }
}
