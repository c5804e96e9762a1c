import ArgumentParser
import Program
import Proxy

/// A command that asks the operator API for one answer and shows it.
protocol AskingCommand: AsyncParsableCommand {
    associatedtype Answer: Encodable & Sendable

    var options: ClientOptions { get }

    /// Whether an Understudy must run; otherwise the command also works on the store.
    static var needsServer: Bool { get }

    /// Whether the command says that there is more in the stores of users.
    static var hintsAtUsers: Bool { get }

    /// What comes before the API is asked: a check of the arguments, or a question to the person.
    func prepare() throws

    func ask(_ client: OperatorClient) async throws -> Answer

    func lines(_ answer: Answer) -> [String]

    /// What comes after the answer was shown, such as its exit code.
    func end(_ answer: Answer) throws
}

extension AskingCommand {
    static var needsServer: Bool { false }
    static var hintsAtUsers: Bool { false }
    func prepare() throws {}
    func end(_ answer: Answer) throws {}

    func run() async throws { try await askAndShow() }

    func askAndShow() async throws {
        try prepare()
        let (answer, users) =
            Self.needsServer
            ? try await options.withOperator(find) : try await options.withOperatorOrStore(find)
        options.show(answer, lines)
        if let hint = users?.hint { options.tell(hint) }
        try end(answer)
    }

    private func find(_ client: OperatorClient) async throws -> (Answer, UserStores?) {
        (
            try await ask(client),
            Self.hintsAtUsers ? try await UserStores.read(client, options) : nil
        )
    }
}

protocol ListCommand: AskingCommand where Answer == Answers.Page<Element> {
    associatedtype Element: Answers.Part

    var path: String { get }

    /// The part of the list.
    var query: [(String, String?)] { get }

    /// The line for an empty list.
    static var nothing: String { get }

    func lines(of element: Element) -> [String]
}

extension ListCommand {
    var query: [(String, String?)] { [] }

    func ask(_ client: OperatorClient) async throws -> Answers.Page<Element> {
        try await client.get(path, query)
    }

    func lines(_ page: Answers.Page<Element>) -> [String] {
        TerminalText.list(page, nothing: Self.nothing, lines(of:))
    }
}

protocol RemoveCommand: AskingCommand where Answer == Answers.Nothing {
    var path: String { get }

    /// The line that says that it is removed.
    var done: String { get }
}

extension RemoveCommand {
    func ask(_ client: OperatorClient) async throws -> Answers.Nothing {
        try await client.delete(path)
    }

    func lines(_ answer: Answers.Nothing) -> [String] { [done] }
}

/// The option of commands whose effect cannot be undone.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    /// Asks for a confirmation. Throws without one, and if there is neither a terminal nor `--yes`.
    /// - Parameter question: the effect as a sentence without its full stop.
    func confirm(_ question: String) throws {
        if yes { return }
        guard ThisProcess.canAsk else {
            throw StartProblem(
                "\(question): this needs --yes, since there is no terminal to ask at.")
        }
        guard ThisProcess.ask("\(question). Go on? [y/N] ") == "y" else {
            ThisProcess.say("Nothing was done.")
            throw ExitStatus.error
        }
    }
}
