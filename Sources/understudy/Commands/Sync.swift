import ArgumentParser
import HTTPMessage
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

struct Sync: AsyncParsableCommand {
    static let discussion = """
        Ends with 3 when the backend cannot be reached or offline mode is on, 4 with conflicts \
        open, 5 with refused operations. JSON: the run, {id, kind, state, reason, push, pull, …}, as in \
        /-/openapi.json.
        """
    static let configuration = CommandConfiguration(
        abstract: "Push what is queued, then pull all tables.",
        discussion: discussion)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await Self.perform(options, SyncRoutes.sync)
    }

    /// Starts a run, waits for its end, shows it, and throws its exit code.
    static func perform(
        _ options: ClientOptions, _ route: Route<Run>, of places: String...,
        body: [JSONValue.Member?] = []
    ) async throws {
        let request = route(places, query: [Fields.wait(0)], body: body)
        let (run, queue, waiting, users) = try await options.withOperator { [options] client in
            let run = try await Self.finished(try await client.answer(request), client)
            let status = try await client.answer(StatusRoutes.status())
            var waiting: Page<OperationSummary>?
            // One whose answer never came is tried again too.
            if status.queue.waiting > 0 || status.queue.unknown > 0 {
                waiting = try await client.answer(
                    QueueRoutes.list(query: [
                        OperationSelection.state("waiting,unknown"), Fields.limit(1),
                    ]))
            }
            return (
                run, status.queue, waiting?.items.first, try await UserStores.read(client, options)
            )
        }
        options.show(run) { TerminalText.run($0) + TerminalText.waiting(waiting) }
        if let hint = users?.hint { options.tell(hint) }
        try throwResult(run, queue: queue)
    }

    static func finished(
        _ run: Run, _ client: OperatorClient
    ) async throws -> Run {
        var run = run
        var bar = ProgressBar()
        defer { bar.end() }
        while run.state == .running {
            try await Task.sleep(for: .milliseconds(Program.Limits.runPollMilliseconds))
            run = try await client.answer(SyncRoutes.show(run.id))
            if let progress = run.progress {
                bar.draw(progress.phase.rawValue, done: progress.done, total: progress.total)
            }
        }
        return run
    }

    /// The sentence and exit code of a run that is not complete.
    private static func problem(_ run: Run, _ end: String) -> StartProblem {
        let reason = run.reason.map { ": \($0)" } ?? "."
        return StartProblem("The \(run.kind.rawValue) \(end)\(reason)", .error)
    }

    /// Throws the exit code of a run; returns for a success.
    /// - Parameter queue: the counts of open operations after the run.
    static func throwResult(_ run: Run, queue: QueueCounts) throws {
        switch run.state {
        case .offline: throw ExitStatus.offline
        case .failed: throw problem(run, "failed")
        case .signIn: throw problem(run, "needs a sign-in")
        case .cancelled: throw problem(run, "was cancelled")
        case .running, .complete, .completeWithErrors:
            try Status.throwOpen(conflicts: queue.conflict, quarantined: queue.quarantined)
            if run.state == .completeWithErrors { throw problem(run, "ended with errors") }
        }
    }
}

struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push what is queued.",
        discussion: Sync.discussion)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await Sync.perform(options, SyncRoutes.push)
    }
}

struct Pull: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pull one table.",
        discussion: Sync.discussion)

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(help: "Only what fits, such as \"$filter=complete eq false\".")
    var query: String?

    @Option(help: "Names the incremental token; without it everything is pulled.")
    var queryID: String?

    @Flag(help: "Remove rows that the backend no longer has.")
    var reconcile = false

    @Flag(
        help: """
            With --reconcile: take the backend's rows also where they are older than those that it gave \
            before, as after a restore from an older backup. What only this store has is lost.
            """)
    var acceptLoss = false

    @OptionGroup var options: ClientOptions

    func validate() throws {
        if acceptLoss, !reconcile {
            throw ValidationError("--accept-loss goes with --reconcile.")
        }
    }

    func run() async throws {
        try await Sync.perform(
            options, SyncRoutes.pull, of: table,
            body: [
                SyncRoutes.reconcile(reconcile),
                SyncRoutes.refuseOlder(reconcile && !acceptLoss), SyncRoutes.query(query),
                SyncRoutes.queryID(queryID),
            ])
    }
}

struct RunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "Syncs, pushes and pulls: the latest, and the one under way.",
        subcommands: [RunsList.self, RunsCancel.self], defaultSubcommand: RunsList.self)
}

struct RunsList: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List runs, latest first.",
        discussion: "JSON: {items: [run], next, total}.")
    static let nothing = "No runs yet."

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Page<Run>> { SyncRoutes.list(query: page.query) }

    func lines(of run: Run) -> [String] {
        let told = TerminalText.run(run)
        return ["\(run.id)  \(run.startedAt.text)  " + (told.first ?? "")] + told.dropFirst()
    }
}

struct RunsCancel: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a run after the request that is under way.",
        discussion: "What it has not sent stays in the queue. JSON: the run.")
    static let needsServer = true

    @Argument(help: "Its id.")
    var id: String
    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Run> { SyncRoutes.cancel(id) }

    func lines(_ run: Run) -> [String] { TerminalText.run(run) }

    func end(_ run: Run) throws {
        if run.state != .running, run.state != .cancelled {
            options.tell("The run had ended before: nothing was cancelled.")
        }
    }
}
