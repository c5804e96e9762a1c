import ArgumentParser
import HTTPMessage
import Proxy
import TablesProtocol

/// `understudy sync`.
struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push what is queued, then pull all tables.",
        discussion: """
            Ends with 3 when the backend cannot be reached, 4 with conflicts, 5 with quarantined \
            operations. JSON: the run, {id, kind, state, reason, push, pull, …}, as in \
            /-/openapi.json.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let run = try await options.withOperator { client in
            try await Self.finished(try await client.post("/sync", [("wait", "0")]), client)
        }
        options.show(run, TerminalText.run)
        try Self.throwResult(run)
    }

    /// Waits for the end of a run.
    static func finished(_ run: JSONValue, _ client: OperatorClient) async throws -> JSONValue {
        var run = run
        var bar = ProgressBar()
        defer { bar.end() }
        while run["state"]?.string == "running", let id = run["id"]?.string {
            try await Task.sleep(for: .milliseconds(Limits.runPollMilliseconds))
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

    /// Ends with the code that fits a run.
    static func throwResult(_ run: JSONValue) throws {
        switch run["state"]?.string {
        case "offline": throw ExitStatus.offline
        case "failed", "signIn", "cancelled": throw ExitStatus.error
        default:
            try Status.throwOpen(
                conflicts: run["push"]?["conflicts"]?.integer,
                quarantined: run["push"]?["quarantined"]?.integer)
            if run["state"]?.string == "completeWithErrors" { throw ExitStatus.error }
        }
    }
}
