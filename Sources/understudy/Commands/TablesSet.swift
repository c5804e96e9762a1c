import ArgumentParser
import HTTPMessage
import SyncCore
import TablesProtocol

/// `understudy tables set TABLE`.
struct TablesSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change how a table is read and written.",
        discussion: "What is not named stays. JSON: the table.")

    @Argument(help: "The table.")
    var table: String

    @Option(
        help: ArgumentHelp("How it is read: \(Self.words(ReadPolicy.self)).", valueName: "policy"))
    var read: String?

    @Option(
        help: ArgumentHelp(
            "When writes are answered: \(Self.words(WritePolicy.self)).", valueName: "policy"))
    var write: String?

    @Option(
        help: ArgumentHelp(
            "Who decides conflicts: \(Self.words(ConflictPolicy.self)).", valueName: "policy"))
    var conflict: String?

    @Option(
        help: ArgumentHelp(
            "Who decides conflicts of writes without If-Match: ask or client.",
            valueName: "policy"))
    var unconditional: String?

    @Flag(inversion: .prefixedNo, help: "Whether all users share it.")
    var `public`: Bool?

    @OptionGroup var options: ClientOptions

    private static func words<Policy: RawRepresentable & CaseIterable>(
        _ type: Policy.Type
    ) -> String where Policy.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    func run() async throws {
        let policies = [
            ("readPolicy", read), ("writePolicy", write), ("conflictPolicy", conflict),
            ("unconditionalPolicy", unconditional),
        ]
        var body = policies.compactMap { name, value in
            value.map { JSONValue.Member(name, .string($0)) }
        }
        if let shared = self.public { body.append(.init("isPublic", .bool(shared))) }
        let request = JSONValue.object(body)
        let result = try await options.withOperatorOrStore { client in
            try await client.patch("/tables/\(PercentCoding.encode(table))", request)
        }
        options.show(result) { TerminalText.table($0) }
    }
}
