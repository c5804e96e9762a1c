/// The process of a running Understudy: the settings that hold, its libraries, and the end of its log. It is
/// empty in a command that opens the stores without a server.
package struct ProcessReport: Sendable {
    /// A setting that does not have its default.
    package struct Setting: Sendable, Hashable {
        /// Its name, as the configuration file has it.
        package let name: String
        /// Its values without secrets.
        package let values: [String]
        /// The place of each value: a flag, a variable, or a file with its line.
        package let origins: [String]

        /// Makes a setting from its parts.
        package init(name: String, values: [String], origins: [String]) {
            self.name = name
            self.values = values
            self.origins = origins
        }
    }

    /// A library with its version.
    package struct Library: Sendable, Hashable {
        /// Its name.
        package let name: String
        /// Its version, as the library itself gives it.
        package let version: String

        /// Makes a library from its parts.
        package init(name: String, version: String) {
            self.name = name
            self.version = version
        }
    }

    /// The settings that hold now.
    let settings: @Sendable () -> [Setting]
    /// The linked libraries.
    let libraries: [Library]
    /// The last lines of the log, the oldest first.
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
