import Logging

extension Logger {
    /// The log of this process: lines on standard error.
    static func ofProcess() -> Logger {
        var log = Logger(label: "understudy") { StreamLogHandler.standardError(label: $0) }
        log.logLevel =
            ThisProcess.environment("UNDERSTUDY_LOG_LEVEL").flatMap(Level.init(rawValue:))
            ?? .warning
        return log
    }
}
