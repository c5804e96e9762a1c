import ArgumentParser
import Proxy

/// The option of commands that give something up for good.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    /// Asks whether to go on. Without a person at the terminal the answer must have been given.
    /// - Parameter question: what is about to happen, without a question mark.
    func confirm(_ question: String) throws {
        if yes { return }
        guard ThisProcess.canAsk else {
            throw StartProblem("\(question): this needs --yes, since there is no terminal to ask at.")
        }
        guard ThisProcess.ask("\(question). Go on? [y/N] ") == "y" else {
            ThisProcess.say("Nothing was done.")
            throw ExitStatus.error
        }
    }
}
