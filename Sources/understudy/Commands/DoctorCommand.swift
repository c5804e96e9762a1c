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
        let findings = try await Self.findings(options, backend: backend)
        let report = JSONValue.members(("findings", .array(findings.map(\.json))))
        options.show(report, TerminalText.findings)
        if findings.contains(where: { $0.state == .problem }) { throw ExitStatus.error }
    }

    /// What there is to say.
    static func findings(
        _ options: ClientOptions, backend: String? = nil
    ) async throws -> [Finding] {
        let sources = try options.sources([Settings.backend.name: backend.map { [$0] } ?? []])
        // A folder that cannot be trusted is a finding of its own, and no reason to look no further.
        let wanted = (try? await options.wantedTables()) ?? nil
        return await Doctor(
            sources: sources, folder: try options.folder(), isRunning: wanted != nil,
            wanted: wanted ?? []
        ).findings()
    }
}
