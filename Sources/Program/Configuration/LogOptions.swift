package import ArgumentParser

/// The options on the log.
package struct LogOptions: ParsableArguments {
    @Option(
        help: """
            The least that the log says: trace to critical; debug: each request. (default: notice)
            """)
    package var logLevel: String?

    @Option(
        help: "How the log is written: auto, text or json. (default: auto)",
        completion: .words(of: LogFormat.self))
    package var logFormat: String?

    package init() {}

    /// The flags by the names of their settings.
    package var flags: [String: [String]] {
        [
            Settings.logLevel.name: logLevel.map { [$0] } ?? [],
            Settings.logFormat.name: logFormat.map { [$0] } ?? [],
        ]
    }
}

extension Bool? {
    /// A flag as the texts of its setting; none if it is not given.
    package var texts: [String] { map { [$0 ? "yes" : "no"] } ?? [] }
}
