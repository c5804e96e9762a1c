import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy support`.
struct Support: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Gather what is needed to help with a problem, without secrets.",
        discussion: """
            One JSON text: version, findings of the doctor, settings, status, metrics, runs and \
            the latest operations. No token, no contents of rows and no ids of items are in it, \
            and users are numbered; read it before you send it.
            """)

    @Option(help: "A new file to write to. (default: standard output)")
    var output: String?

    @OptionGroup var options: ClientOptions

    func run() async throws {
        var members: [JSONValue.Member] = [
            .init("program", .string("understudy \(Version.text)")),
            .init("at", .string(ThisProcess.now.text)),
            .init(
                "findings", .array(try await DoctorCommand.findings(options).map(\.json))),
            .init("settings", settings(try options.sources())),
        ]
        if try options.folder().hasStore {
            members += try await options.withOperatorOrStore { client in
                try await Self.state(client)
            }
        }
        let identities = try options.folder().identities.map(\.key)
        let text = Redaction(identities: identities, home: ThisProcess.environment("HOME"))
            .text(JSONValue.object(members))
        guard let output else { return ThisProcess.print(json: text) }
        do {
            let file = try OutputFile(output)
            try file.print(text)
            try file.finish()
        } catch {
            throw StartProblem("\(error)", .error)
        }
        ThisProcess.say("\(output) is written. Read it before you send it.")
    }

    private func settings(_ sources: Sources) -> JSONValue {
        .object(
            ServeSetting.all.map { setting in
                .init(setting.name, .array(sources.texts(setting).map { .string($0) }))
            })
    }

    private static func state(_ client: OperatorClient) async throws -> [JSONValue.Member] {
        let limit = [("limit", String(Limits.bundledEntries))]
        let operations = try await client.get("/operations", limit + [("state", "all")])
        return [
            .init("isRunning", .bool(client.isRunning)),
            .init("status", try await client.get("/status")),
            .init("groups", try await client.get("/operations/groups")),
            .init("runs", try await client.get("/runs", limit)["items"] ?? .null),
            .init(
                "operations",
                .array((operations["items"]?.array ?? []).map { Redaction.operation($0) })),
            .init(
                "metrics",
                .array(
                    try await client.text("metrics").split(separator: "\n").map {
                        .string(String($0))
                    })),
        ]
    }
}
