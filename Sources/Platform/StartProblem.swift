/// Why a command cannot start or go on: one sentence and the exit code.
package struct StartProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for a person, with what to do.
    package let sentence: String
    /// The code the process ends with.
    package let exitCode: ExitStatus

    package init(_ sentence: String, _ exitCode: ExitStatus = .usage) {
        self.sentence = sentence
        self.exitCode = exitCode
    }

    package var description: String { sentence }
}

/// The exit code of a command. A command that has printed its output throws it.
package enum ExitStatus: Int32, Error, Sendable, Hashable, CaseIterable {
    /// Success.
    case ok = 0
    /// Failure.
    case error = 1
    /// Wrong use, or a start that is not possible (port, folder, lock).
    case usage = 2
    case offline = 3
    case conflicts = 4
    case quarantined = 5
    /// No Understudy runs on this data folder.
    case notRunning = 6
}
