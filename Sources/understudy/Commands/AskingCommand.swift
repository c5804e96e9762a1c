import ArgumentParser
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

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

/// A command whose answer is that of one request.
protocol RequestCommand: AskingCommand where Answer: Decodable {
    var request: RouteRequest<Answer> { get throws }
}

extension RequestCommand {
    func ask(_ client: OperatorClient) async throws -> Answer { try await client.answer(request) }
}

protocol ListCommand: RequestCommand where Answer == Page<Element> {
    associatedtype Element: Answers.Part

    /// The line for an empty list.
    static var nothing: String { get }

    func lines(of element: Element) -> [String]
}

extension ListCommand {
    func lines(_ page: Page<Element>) -> [String] {
        TerminalText.list(page, nothing: Self.nothing, lines(of:))
    }
}

struct PageOptions: ParsableArguments {
    @Option(
        help: "How many to show, at most \(Proxy.Limits.pageElementsMax). (default: \(Self.shown))")
    var limit: Int?

    @Option(help: "Where the list before ended.")
    var after: String?

    func validate() throws {
        guard (1...Proxy.Limits.pageElementsMax).contains(limit ?? Self.shown) else {
            throw ValidationError(
                "--limit must be a whole number from 1 to \(Proxy.Limits.pageElementsMax).")
        }
    }

    private static let shown = 50

    /// The options as parameters of the operator API.
    var query: [JSONValue.Member?] { query(limit: Fields.limit, after: Fields.after) }

    /// The same where the API has other names for them.
    func query<Place>(limit size: Field<Int>, after next: Field<Place>) -> [JSONValue.Member?] {
        [size(limit ?? Self.shown), next.written(after)]
    }

    fileprivate var isGiven: Bool { limit != nil || after != nil }
}

/// The options that have a command write all of a list, in the place of a page.
struct ListFormOptions: ParsableArguments {
    @Flag(help: "Write all that match as comma-separated values, as spreadsheets read them.")
    var csv = false

    @Flag(help: "Write all that match as JSON, one object in each line.")
    var jsonl = false

    func validate() throws {
        if csv, jsonl { throw ValidationError("Say one of --csv and --jsonl.") }
    }

    var form: ListFormat? { csv ? .csv : jsonl ? .jsonl : nil }

    /// Writes all of a list to standard output while it arrives.
    /// - Returns: false where a page is asked for.
    func write<Answer>(
        _ request: RouteRequest<Answer>, _ page: PageOptions, _ options: ClientOptions
    ) async throws -> Bool {
        guard let form else { return false }
        guard !page.isGiven, !options.json else {
            throw StartProblem(
                "--csv and --jsonl write all that match: leave --limit, --after and --json out.")
        }
        try await options.withOperatorOrStore { client in
            try await client.lines(of: request, form) { line in
                switch form {
                case .csv: ThisProcess.print(csvLine: line)
                case .jsonl: ThisProcess.print(json: line)
                }
            }
        }
        return true
    }
}

protocol RemoveCommand: RequestCommand where Answer == Answers.Nothing {
    /// The line that says that it is removed.
    var done: String { get }
}

extension RemoveCommand {
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
