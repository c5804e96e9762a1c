import ArgumentParser
import Program
import Proxy
import TablesProtocol

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look for what keeps Understudy from its work.",
        discussion: """
            Looks at the configuration, the data folder, the stores, the queue, the port and the \
            backend, and says what to do. Needs no Understudy that runs; of one that runs it takes \
            the settings that it does not find itself. Ends with 1 when there is a problem. \
            JSON: {findings: [{check, state: ok|warning|problem, finding, advice}]}.
            """)

    @Option(help: "The backend to look at, instead of the configured one.")
    var backend: String?

    @Flag(help: "Look at a backend on another machine without TLS, too.")
    var allowPlainHttp = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await options.becomeOwner()
        var flags: [String: [String]] = [:]
        if let backend { flags[Settings.backend.name] = [backend] }
        if allowPlainHttp { flags[Settings.allowPlainHTTP.name] = ["yes"] }
        let findings = try await Self.findings(options, flags)
        options.show(Report(findings: findings)) { TerminalText.findings($0.findings) }
        if findings.contains(where: { $0.state == .problem }) { throw ExitStatus.error }
    }

    private struct Report: Encodable {
        let findings: [Finding]
    }

    /// The findings for the options.
    /// - Parameter flags: further settings by name.
    static func findings(
        _ options: ClientOptions, _ flags: [String: [String]] = [:]
    ) async throws -> [Finding] {
        var sources = try options.sources(flags)
        var running: RunningState?
        var silence: String?
        do {
            running = try await options.runningState()
        } catch let problem as StartProblem where problem.exitCode == .error {
            silence = problem.sentence
        } catch {
            // A folder that cannot be trusted is a finding of its own, and does not stop the other checks.
        }
        if let running {
            sources = try options.sources(running.flags(missingIn: sources).merging(flags) { $1 })
        }
        return await Doctor(
            sources: sources, folder: try options.folder(), running: running,
            silence: silence, variables: UnknownVariable.all(ThisProcess.environmentNames)
        ).findings()
    }
}
