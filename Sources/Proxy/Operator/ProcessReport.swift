/// The process of a running Understudy: the settings that hold, its libraries, and the end of its log. It is
/// empty in a command that opens the stores without a server.
package struct ProcessReport: Sendable {
    /// A setting that does not have its default.
    package struct Setting: Sendable, Hashable {
        package let name: String
        /// Its values without secrets.
        package let values: [String]
        /// The place of each value: a flag, a variable, or a file with its line.
        package let origins: [String]

        package init(name: String, values: [String], origins: [String]) {
            self.name = name
            self.values = values
            self.origins = origins
        }
    }

    /// A library with its version.
    package struct Library: Sendable, Hashable {
        package let name: String
        package let version: String

        package init(name: String, version: String) {
            self.name = name
            self.version = version
        }
    }

    let settings: @Sendable () -> [Setting]
    let libraries: [Library]
    let log: @Sendable () -> [String]

    /// - Parameters:
    ///   - settings: those that hold now.
    ///   - libraries: those that are linked.
    ///   - log: the last lines of the log, the oldest first.
    package init(
        settings: @escaping @Sendable () -> [Setting], libraries: [Library],
        log: @escaping @Sendable () -> [String]
    ) {
        self.settings = settings
        self.libraries = libraries
        self.log = log
    }

    /// No settings, no libraries, no log.
    package static let none = ProcessReport(settings: { [] }, libraries: [], log: { [] })
}
