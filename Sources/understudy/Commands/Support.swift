import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy support`.
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
                "findings", .array(try await DoctorCommand.findings(options).map(\.json))),
            .init("files", .array(Self.files(of: try options.folder()))),
        ]
        let own = RunningSettings(try options.sources()).all
        if try options.folder().hasStore {
            members += try await options.withOperatorOrStore { client in
                try await Self.state(client)
            }
        }
        if !members.contains(where: { $0.name == "settings" }) {
            members.append(.init("settings", .array(own.map(Self.json))))
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

    private static func json(_ setting: ProcessReport.Setting) -> JSONValue {
        .members(
            ("name", .string(setting.name)),
            ("values", .array(setting.values.map { .string($0) })),
            ("origins", .array(setting.origins.map { .string($0) })))
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
        let process = try await client.forAll.get("/process")
        // Without a server the settings are those of this command.
        let running: [JSONValue.Member] =
            client.isRunning
            ? ["version", "startedAt", "libraries", "settings", "log"].compactMap { name in
                process[name].map { .init(name, $0) }
            } : []
        let limit = [("limit", String(Limits.bundledEntries))]
        let operations = try await client.get("/operations", limit + [("state", "all")])
        return running + [
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
