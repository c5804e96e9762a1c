import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy status`.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "How things stand: backend, queue, ledger, tables.",
        discussion: """
            Ends with 6 when no Understudy runs (the store's state is shown all the same), 3 when \
            the backend cannot be reached, 4 with conflicts open, 5 with quarantined operations. \
            JSON: as GET /-/api/v1/status in /-/openapi.json.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let (status, isRunning) = try await options.withOperatorOrStore { client in
            (try await client.get("/status"), client.isRunning)
        }
        options.show(status, TerminalText.status)
        if !isRunning {
            ThisProcess.say("No Understudy runs; this is what the store holds.")
            throw ExitStatus.notRunning
        }
        if status["backend"]?["state"]?.string != "online" { throw ExitStatus.offline }
        try Status.throwOpen(
            conflicts: status["queue"]?["conflict"]?.integer,
            quarantined: status["queue"]?["quarantined"]?.integer)
    }

    /// Ends with the code that says what waits for a person.
    static func throwOpen(conflicts: Int64?, quarantined: Int64?) throws {
        if conflicts ?? 0 > 0 { throw ExitStatus.conflicts }
        if quarantined ?? 0 > 0 { throw ExitStatus.quarantined }
    }
}
