import ArgumentParser
import HTTPMessage
import Program
import Proxy
import TablesProtocol

/// `understudy sync`.
struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push what is queued, then pull all tables.",
        discussion: """
            Ends with 3 when the backend cannot be reached or offline mode is on, 4 with conflicts \
            open, 5 with quarantined operations. JSON: the run, {id, kind, state, reason, push, pull, …}, as in \
            /-/openapi.json.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await Self.perform(options, "/sync")
    }

    /// Starts a run, waits for its end, shows it, and throws its exit code.
    static func perform(
        _ options: ClientOptions, _ path: String, _ body: JSONValue = .object([])
    ) async throws {
        let (run, queue, waiting, users) = try await options.withOperator { [options] client in
            let started = try await client.post(path, [("wait", "0")], body)
            let run = try await Self.finished(started, client)
            let queue = try await client.get("/status")["queue"] ?? .null
            var waiting = JSONValue.null
            // One whose answer never came is tried again too.
            if ["waiting", "unknown"].contains(where: { queue[$0]?.integer ?? 0 > 0 }) {
                waiting = try await client.get(
                    "/operations", [("state", "waiting,unknown"), ("limit", "1")])
            }
            return (run, queue, waiting, try await UserStores.read(client, options))
        }
        options.show(run) { TerminalText.run($0) + TerminalText.waiting(waiting) }
        if let hint = users?.hint { options.tell(hint) }
        try throwResult(run, queue: queue)
    }

    /// Waits for the end of a run.
    static func finished(_ run: JSONValue, _ client: OperatorClient) async throws -> JSONValue {
        var run = run
        var bar = ProgressBar()
        defer { bar.end() }
        while run["state"]?.string == "running", let id = run["id"]?.string {
            try await Task.sleep(for: .milliseconds(Program.Limits.runPollMilliseconds))
            run = try await client.get("/runs/\(PercentCoding.encode(id))")
            if let progress = run["progress"], progress != .null {
                bar.draw(
                    progress["phase"]?.string ?? "sync",
                    done: Int(progress["done"]?.integer ?? 0),
                    total: progress["total"]?.integer.map { Int($0) })
            }
        }
        return run
    }

    /// The sentence and exit code of a run that is not complete.
    private static func problem(_ run: JSONValue, _ end: String) -> StartProblem {
        let reason = run["reason"]?.string.map { ": \($0)" } ?? "."
        return StartProblem("The \(run["kind"]?.string ?? "run") \(end)\(reason)", .error)
    }

    /// Throws the exit code of a run; returns for a success.
    /// - Parameter queue: the counts of open operations after the run.
    static func throwResult(_ run: JSONValue, queue: JSONValue) throws {
        switch run["state"]?.string {
        case "offline": throw ExitStatus.offline
        case "failed": throw problem(run, "failed")
        case "signIn": throw problem(run, "needs a sign-in")
        case "cancelled": throw problem(run, "was cancelled")
        default:
            try Status.throwOpen(
                conflicts: queue["conflict"]?.integer,
                quarantined: queue["quarantined"]?.integer)
            if run["state"]?.string == "completeWithErrors" {
                throw problem(run, "ended with errors")
            }
        }
    }
}

/// `understudy push`.
struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push what is queued.",
        discussion: """
            Ends with 3 when the backend cannot be reached or offline mode is on, 4 with conflicts \
            open, 5 with quarantined operations. JSON: the run, {id, kind, state, reason, push, pull, …}, as in \
            /-/openapi.json.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await Sync.perform(options, "/push")
    }
}

/// `understudy pull TABLE`.
struct Pull: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pull one table.",
        discussion: """
            Ends with 3 when the backend cannot be reached or offline mode is on, 4 with conflicts \
            open, 5 with quarantined operations. JSON: the run, {id, kind, state, reason, push, pull, …}, as in \
            /-/openapi.json.
            """)

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(help: "Only what fits, such as \"$filter=complete eq false\".")
    var query: String?

    @Option(help: "Names the incremental token; without it everything is pulled.")
    var queryID: String?

    @Flag(help: "Remove rows that the backend no longer has.")
    var reconcile = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        var body: [JSONValue.Member] = [.init("reconcile", .bool(reconcile))]
        if let query { body.append(.init("query", .string(query))) }
        if let queryID { body.append(.init("queryId", .string(queryID))) }
        try await Sync.perform(
            options, "/tables/\(PercentCoding.encode(table))/pull", .object(body))
    }
}

/// `understudy runs …`.
struct RunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "Syncs, pushes and pulls: the latest, and the one under way.",
        subcommands: [RunsList.self, RunsCancel.self], defaultSubcommand: RunsList.self)
}

/// `understudy runs list`.
struct RunsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List runs, latest first.",
        discussion: "JSON: {items: [run], next, total}.")

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperatorOrStore { try await $0.get("/runs", page.query) }
        options.show(list, TerminalText.runs)
    }
}

/// `understudy runs cancel ID`.
struct RunsCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a run after the request that is under way.",
        discussion: "What it has not sent stays in the queue. JSON: the run.")

    @Argument(help: "Its id.")
    var id: String
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let run = try await options.withOperator { client in
            try await client.post("/runs/\(PercentCoding.encode(id))/cancel")
        }
        options.show(run, TerminalText.run)
        if let state = run["state"]?.string, state != "running", state != "cancelled" {
            options.tell("The run had ended before: nothing was cancelled.")
        }
    }
}
