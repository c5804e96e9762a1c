/// Why a command cannot start or go on: one sentence and the exit code.
struct StartProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for a person, with what to do.
    let sentence: String
    /// The code the process ends with.
    let exitCode: ExitStatus

    /// Makes a problem.
    init(_ sentence: String, _ exitCode: ExitStatus = .usage) {
        self.sentence = sentence
        self.exitCode = exitCode
    }

    /// The sentence.
    var description: String { sentence }
}
