/// Why a command cannot start or go on: one sentence and the exit code.
package struct StartProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for a person, with what to do.
    package let sentence: String
    /// The code the process ends with.
    package let exitCode: ExitStatus

    /// Makes a problem.
    package init(_ sentence: String, _ exitCode: ExitStatus = .usage) {
        self.sentence = sentence
        self.exitCode = exitCode
    }

    /// The sentence.
    package var description: String { sentence }
}
