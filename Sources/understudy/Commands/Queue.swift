import ArgumentParser
import HTTPMessage
import Proxy
import TablesProtocol

/// `understudy queue …`. Each subcommand has a file of its own.
struct Queue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The operations that wait, and what to do with them.",
        discussion: """
            They also work while no Understudy runs, on what the store holds.
            """,
        subcommands: [
            QueueList.self, QueueGroups.self, QueueShow.self, QueueEdit.self,
            QueueRetry.self, QueueDiscard.self,
        ], defaultSubcommand: QueueList.self)

    /// Does something with an operation as it is now.
    static func act(
        _ verb: String, _ id: String, _ client: OperatorClient
    ) async throws -> JSONValue {
        let path = "/operations/\(PercentCoding.encode(id))"
        let revision = try await client.get(path)["summary"]?["revision"] ?? .null
        return try await client.post("\(path)/\(verb)", [], .members(("revision", revision)))
    }
}
