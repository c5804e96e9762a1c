import ArgumentParser
import TablesProtocol

/// `understudy status`.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "How things stand: backend, queue, ledger, tables.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let status = try await options.withOperator { try await $0.get("/status") }
        options.show(status, Words.status)
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
