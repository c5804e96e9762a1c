import ArgumentParser
import Program
import Proxy
import TablesProtocol

struct Support: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Gather what is needed to help with a problem, without secrets.",
        discussion: """
            One JSON text: version, findings of the doctor, the settings and libraries of the \
            running Understudy and the last lines of its log, the sizes of the files, status, \
            metrics, runs and the latest operations. No token, no contents of rows and no ids of \
            items are in it, and users are numbered; read it before you send it.
            """)

    @Option(help: "A new file to write to; - is standard output. (default: standard output)")
    var output: String?

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await options.becomeOwner()
        var members: [JSONValue.Member] = [
            .init("program", .string("understudy \(Version.text)")),
            .init("at", .string(ThisProcess.now.text)),
            .init(
                "findings", JSONValue(answer: try await DoctorCommand.findings(options))),
            .init("files", .array(Self.files(of: try options.folder()))),
        ]
        let own = RunningSettings(try options.sources()).all
        if try options.folder().hasStore {
            members += try await options.withOperatorOrStore { client in
                try await Self.state(client)
            }
        }
        if !members.contains(where: { $0.name == "settings" }) {
            members.append(.init("settings", JSONValue(answer: own)))
        }
        let folder = try options.folder()
        let text = Redaction(
            identities: folder.identities.map(\.key), home: ThisProcess.environment("HOME"),
            token: (try? folder.token()) ?? nil
        ).text(JSONValue.object(members))
        guard let output, output != "-" else { return ThisProcess.print(json: text) }
        do {
            let file = try OutputFile(output)
            try file.print(text)
            try file.finish()
        } catch {
            throw StartProblem("\(error)", .error)
        }
        options.tell("\(output) is written. Read it before you send it.")
    }

    /// The largest files of the data folder with their sizes.
    private static func files(of folder: DataFolder) -> [JSONValue] {
        var found: [(path: String, bytes: Int64)] = []
        func look(_ path: String, _ shown: String) {
            for name in Files.names(in: path) {
                let (inner, shown) = ("\(path)/\(name)", shown.isEmpty ? name : "\(shown)/\(name)")
                if Files.isFolder(inner) {
                    look(inner, shown)
                } else if Files.isRegular(inner), let bytes = Files.size(inner) {
                    found.append((shown, bytes))
                }
            }
        }
        look(folder.path, "")
        return found.sorted { ($1.bytes, $0.path) < ($0.bytes, $1.path) }
            .prefix(Limits.bundledFiles).map { file in
                .members(
                    ("path", .string(file.path)), ("bytes", .number(Int(file.bytes))))
            }
    }

    /// What the running Understudy says, or the store if none runs.
    private static func state(_ client: OperatorClient) async throws -> [JSONValue.Member] {
        let process: JSONValue = try await client.forAll.get("/process")
        // Without a server the settings are those of this command.
        var running: [JSONValue.Member] = []
        if client.isRunning, case .object(let members) = process { running = members }
        let limit = [("limit", String(Limits.bundledEntries))]
        let runs: Answers.Page<JSONValue> = try await client.get("/runs", limit)
        let operations: Answers.Page<JSONValue> = try await client.get(
            "/operations", limit + [("state", "all")])
        return running + [
            .init("isRunning", .bool(client.isRunning)),
            .init("status", try await client.get("/status")),
            .init("groups", try await client.get("/operations/groups")),
            .init("runs", .array(runs.items)),
            .init("operations", .array(operations.items.map { Redaction.operation($0) })),
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
    /// The operator token. No text should have it.
    var token: String?

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
            .object(
                members.map { member in
                    let value =
                        switch member.name {
                        case "failedRequest": Self.withoutRow(member.value)
                        case "finding", "warning", "warnings": Self.withoutNames(member.value)
                        default: member.value
                        }
                    return .init(replacing(member.name), replacing(value))
                })
        case .null, .bool, .number: value
        }
    }

    /// Sentences without the ids in them, which stand in “quotes”.
    private static func withoutNames(_ value: JSONValue) -> JSONValue {
        if case .array(let values) = value { return .array(values.map(withoutNames)) }
        guard let parts = value.string?.split(separator: "“", omittingEmptySubsequences: false)
        else { return value }
        let rest = parts.dropFirst().map { part in
            "…" + (part.lastIndex(of: "”").map { String(part[$0...]) } ?? "")
        }
        return .string(([String(parts[0])] + rest).joined(separator: "“"))
    }

    /// A request that failed, without the id and the query of its path.
    private static func withoutRow(_ request: JSONValue) -> JSONValue {
        guard case .object(let members) = request else { return request }
        return .object(
            members.map { member in
                guard member.name == "path", let path = member.value.string else { return member }
                let parts = path.prefix { $0 != "?" }.split(separator: "/")
                let table = parts.firstIndex(of: "tables").map {
                    parts[...min($0 + 1, parts.count - 1)]
                }
                return .init("path", .string("/" + (table ?? []).joined(separator: "/")))
            })
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
        if let token {
            text = text.split(separator: token, omittingEmptySubsequences: false)
                .joined(separator: Self.secret)
        }
        return Self.withoutCredentials(text)
    }

    static let secret = ConfigurationProblem.hidden

    /// Whether something of a text was left out.
    static func hides(in text: String) -> Bool { text.contains(secret) }

    /// The text without the user and password of its addresses, such as `http://user:password@proxy:3128`.
    static func withoutCredentials(_ text: String) -> String {
        let pieces = text.split(separator: "://", omittingEmptySubsequences: false)
        let rest = pieces.dropFirst().map { piece -> String in
            let authority = piece.prefix { !" /?#\"'".contains($0) }
            guard let mark = authority.lastIndex(of: "@") else { return String(piece) }
            return secret + piece[mark...]
        }
        return ([String(pieces[0])] + rest).joined(separator: "://")
    }
}
