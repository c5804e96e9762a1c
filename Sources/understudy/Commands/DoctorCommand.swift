import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look for what keeps Understudy from its work.",
        discussion: """
            Looks at the configuration, the data folder, the stores, the port and the backend, and \
            says what to do. Needs no Understudy that runs. Ends with 1 when there is a problem. \
            JSON: {findings: [{check, state: ok|warning|problem, finding, advice}]}.
            """)

    @Option(help: "The backend to look at, instead of the configured one.")
    var backend: String?

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await options.becomeOwner()
        let findings = try await Self.findings(options, backend: backend)
        let report = JSONValue.members(("findings", .array(findings.map(\.json))))
        options.show(report, TerminalText.findings)
        if findings.contains(where: { $0.state == .problem }) { throw ExitStatus.error }
    }

    /// The findings for the options.
    static func findings(
        _ options: ClientOptions, backend: String? = nil
    ) async throws -> [Finding] {
        let sources = try options.sources([Settings.backend.name: backend.map { [$0] } ?? []])
        // A folder that cannot be trusted is a finding of its own, and does not stop the other checks.
        let wanted = (try? await options.wantedTables()) ?? nil
        return await Doctor(
            sources: sources, folder: try options.folder(), isRunning: wanted != nil,
            wanted: wanted ?? []
        ).findings()
    }
}

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
        try await options.becomeOwner()
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

/// Removes private data from a support bundle.
struct Redaction: Sendable {
    /// The keys of users, which are replaced by numbers.
    let identities: [String]
    /// The home folder, which is often named after a person.
    let home: String?

    /// The members of an operation without values of its row.
    private static let harmless: Set<String> = [
        "id", "seq", "table", "kind", "state", "reason", "revision", "attempts", "maybeApplied",
        "createdAt", "firstAttemptAt", "lastAttemptAt", "nextAttemptAt", "closedAt", "lastStatus",
        "changedColumns",
    ]

    /// An operation without values of its row.
    static func operation(_ operation: JSONValue) -> JSONValue {
        guard case .object(let members) = operation else { return .null }
        return .object(members.filter { harmless.contains($0.name) })
    }

    /// A value as text, with all users and the home folder replaced.
    func text(_ value: JSONValue) -> String { replacing(value).text }

    private func replacing(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(replacing(text))
        case .array(let values): .array(values.map(replacing))
        case .object(let members):
            .object(members.map { .init(replacing($0.name), replacing($0.value)) })
        case .null, .bool, .number: value
        }
    }

    private func replacing(_ text: String) -> String {
        var text = text
        for (index, identity) in identities.enumerated() {
            text = text.split(separator: identity, omittingEmptySubsequences: false)
                .joined(separator: "user-\(index + 1)")
        }
        if let home, home.count > 1 {
            text = text.split(separator: home, omittingEmptySubsequences: false)
                .joined(separator: "~")
        }
        return text
    }
}
