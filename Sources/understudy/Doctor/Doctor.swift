import ArgumentParser
import HTTPMessage
import HTTPServer
import HTTPTypes
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

/// Examines everything that can stop Understudy from working. It does not need a running Understudy, and
/// does not disturb one.
struct Doctor: Sendable {
    let sources: Sources
    let folder: DataFolder
    /// The Understudy that runs on the folder; nil if none does.
    let running: RunningState?
    /// Why the Understudy that runs on the folder cannot be asked, in a sentence; nil if it can, or none runs.
    var silence: String?

    /// The variables that are named like one of Understudy's and are none.
    var variables: [UnknownVariable] = []

    /// Whether an Understudy runs on the folder.
    var isRunning: Bool { running != nil }

    /// All findings, in the order in which one check depends on another.
    func findings() async -> [Finding] {
        var findings = configurationFindings()
        findings += folderFindings()
        let stores = inspectStores()
        findings += storeFindings(stores) + queueFindings(stores)
        findings += await listeningFindings()
        findings += bindingFindings(stores)
        findings += await backendFindings(stores)
        return findings
    }

    /// The value of a setting; nil if it is invalid, which is a finding of its own.
    func value<Value>(_ setting: Setting<Value>) -> Value? { try? sources.value(setting) }

    /// The values of a list; none if one is invalid.
    func list<Value>(_ setting: Setting<Value>) -> [Value] { (try? sources.list(setting)) ?? [] }
}

// Invalid settings, and valid ones that are weak.
extension Doctor {
    func configurationFindings() -> [Finding] {
        var findings = sources.problems(of: ServeSetting.all).map { wrong in
            Finding.problem(
                "configuration", "\(wrong.statement).", "It must be \(wrong.allowed).")
        }
        findings += variables.map { variable in
            .warning(
                "configuration", "The variable \(variable.name) is not known.", variable.advice)
        }
        findings += weakFindings()
        if findings.isEmpty {
            let file =
                sources.file.path.map { "\($0) and the environment are" } ?? "The settings are"
            findings.append(.ok("configuration", "\(file) valid."))
        }
        return findings
    }

    private func weakFindings() -> [Finding] {
        var findings: [Finding] = []
        for origin in list(Settings.allowOrigin) where origin == "null" || origin == "file://" {
            findings.append(
                .warning(
                    "weak settings",
                    "allow-origin has \(origin), which many pages can claim to be.",
                    "Name the exact origin of your app instead, if it has one."))
        }
        if value(Settings.allowPlainHTTP) == true {
            findings.append(
                .warning(
                    "weak settings",
                    "allow-plain-http is on: every machine on the way to the backend can read it.",
                    "Use the backend's https address."))
        }
        if LoginUsers.count > 1, value(Settings.tablesAccess) ?? .open == .open {
            findings.append(
                .warning(
                    "weak settings",
                    "\(LoginUsers.count) people can log in here, and each can reach /tables.",
                    "Say tables-access = capability, and give each client an address with: "
                        + "understudy access add NAME"))
        }
        return findings
    }
}

struct Finding: Encodable, Sendable, Hashable {
    /// How serious it is.
    enum State: String, Encodable, Sendable, Hashable, CaseIterable {
        case ok
        /// It works, with a risk.
        case warning
        /// It does not work, or not completely.
        case problem
    }

    /// The name of the check, which never changes.
    let check: String
    let state: State
    let finding: String
    /// What to do, in a sentence; nil if there is nothing to do.
    var advice: String?

    /// A finding of state `ok`.
    static func ok(_ check: String, _ finding: String) -> Finding {
        Finding(check: check, state: .ok, finding: finding)
    }

    /// A finding of state `warning`.
    static func warning(_ check: String, _ finding: String, _ advice: String) -> Finding {
        Finding(check: check, state: .warning, finding: finding, advice: advice)
    }

    /// A finding of state `problem`.
    static func problem(_ check: String, _ finding: String, _ advice: String) -> Finding {
        Finding(check: check, state: .problem, finding: finding, advice: advice)
    }
}

// The check of the addresses to listen on.
extension Doctor {
    func listeningFindings() async -> [Finding] {
        let check = "listening"
        if isRunning {
            let address = (try? folder.address()) ?? nil
            return [.ok(check, "Understudy runs and answers at \(address ?? "its address").")]
        }
        if let silence {
            return [
                .problem(check, silence, "Correct that, then look again with: understudy doctor")
            ]
        }
        guard
            let address = value(Settings.listen)
                ?? (try? ListenAddress(host: "127.0.0.1", port: 8080))
        else { return [] }
        let dashboard = value(Settings.dashboardListen)
        do {
            try await Server.tryListening(address)
            if let dashboard { return await dashboardFindings(address, dashboard) }
            return [.ok(check, "Understudy does not run; \(address) is free.")]
        } catch {
            return [
                .problem(
                    check, "Understudy does not run, and could not: \(error)",
                    "See what listens there with: ss -ltnp | grep :\(address.port)")
            ]
        }
    }
}

extension Doctor {
    /// The same for the dashboard's own address, if the clients' address is free.
    fileprivate func dashboardFindings(
        _ clients: ListenAddress, _ dashboard: ListenAddress
    ) async -> [Finding] {
        let check = "listening"
        if dashboard.port == clients.port {
            return [
                .problem(
                    check, "listen and dashboard-listen have the same port, \(clients.port).",
                    "Give the dashboard another one.")
            ]
        }
        do {
            try await Server.tryListening(dashboard)
            return [
                .ok(
                    check,
                    "Understudy does not run; \(clients) and \(dashboard) for the dashboard are free."
                )
            ]
        } catch {
            return [
                .problem(
                    check, "Understudy does not run, and its dashboard could not: \(error)",
                    "See what listens there with: ss -ltnp | grep :\(dashboard.port)")
            ]
        }
    }
}

extension Server {
    /// Listens on an address and stops, to check that it is possible.
    fileprivate static func tryListening(
        _ address: ListenAddress
    ) async throws(StartFailure) {
        let server = Server(ServerConfiguration(addresses: [address]), handler: RefusingHandler())
        _ = try server.start()
        await server.stop()
    }

    private struct RefusingHandler: HTTPHandler, RequestHandler {
        func admit(_ request: Request) -> Admission {
            .refuse(Response(status: .serviceUnavailable))
        }

        func handle(_ request: Request) -> Answer {
            .now(Response(status: .serviceUnavailable))
        }
    }
}

// What waits, what holds it, and whose data it is.
extension Doctor {
    /// The findings on operations that need more than the next push.
    func queueFindings(_ stores: [StoreInspection]) -> [Finding] {
        let heldUsers = Set((running?.users ?? []).map(\.identity))
        var findings = stores.compactMap { store -> Finding? in
            guard let queue = store.contents?.ledger.queue else { return nil }
            var parts: [String] = []
            // The operations of users have findings of their own below.
            if queue.waiting > 0, !heldUsers.contains(store.identity) {
                parts.append("\(queue.waiting) waiting")
            }
            if queue.conflict > 0 { parts.append("\(queue.conflict) in conflict") }
            if queue.quarantined > 0 { parts.append("\(queue.quarantined) quarantined") }
            guard !parts.isEmpty else { return nil }
            return .warning(
                "queue",
                "\(store.identity) has operations that wait: \(parts.joined(separator: ", ")).",
                "See why with: understudy queue groups\(option(for: store.identity))")
        }
        guard let running else { return findings }
        findings += running.failures.map {
            .warning("tables", $0, "Correct that at the backend; it is tried again by itself.")
        }
        if let held = running.held {
            let identity = running.identity.map { " --identity \($0)" } ?? ""
            findings.append(
                .warning(
                    "sync", "Queued operations are held. \(held)",
                    "See them with: understudy queue\(identity)"))
        }
        if let unsigned = running.unsigned {
            findings.append(.warning("sync", unsigned, "See: understudy queue assign --help"))
        }
        return findings + usersFindings(running) + backupFindings(running)
    }

    /// The findings on operations of users that are not being sent. Those of closed stores are one finding.
    private func usersFindings(_ running: RunningState) -> [Finding] {
        var findings = running.users.compactMap { user in
            user.held.map { held in
                Finding.warning(
                    "sync", "Operations of \(user.identity) are held: \(user.operations). \(held)",
                    "See them with: understudy queue --identity \(user.identity)")
            }
        }
        let closed = running.users.filter { $0.held == nil }
        if let first = closed.first {
            let names = closed.prefix(Program.Limits.shownRows).map {
                "\($0.identity) (\($0.operations))"
            }
            let more = closed.count > names.count ? " and \(closed.count - names.count) more" : ""
            findings.append(
                .warning(
                    "sync",
                    "Operations of users wait in closed stores: "
                        + "\(names.joined(separator: ", "))\(more).",
                    "The next sync sends them; those of a user whose token is not here, when the user's "
                        + "client asks again. See them with: understudy queue --identity "
                        + "\(first.identity)"))
        }
        return findings
    }

    /// The finding on automatic backups that fail.
    private func backupFindings(_ running: RunningState) -> [Finding] {
        guard let failure = running.backupFailure else { return [] }
        return [
            .warning(
                "backup", "The last try to make a backup failed: \(failure)",
                "Correct that, then make one with: understudy backup")
        ]
    }

    /// The finding on data that belongs to another backend than the examined one; none if all belongs to it,
    /// or to one that never answered.
    func bindingFindings(_ stores: [StoreInspection]) -> [Finding] {
        guard let address = backend(stores)?.description else { return [] }
        let others = stores.filter { store in
            guard let contents = store.contents, contents.isBackendProven else { return false }
            return contents.backend != address
        }
        guard let other = others.first?.contents?.backend else { return [] }
        let names = others.map(\.identity).joined(separator: ", ")
        return [
            .problem(
                "rebind",
                "The data of \(names) belongs to \(other). Nothing of it is sent to \(address).",
                "If the backend moved, start once with: understudy serve --rebind. Otherwise correct "
                    + "the address.")
        ]
    }
}

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look for what keeps Understudy from its work.",
        discussion: """
            Looks at the configuration, the data folder, the stores, the queue, the port and the \
            backend, and says what to do. Needs no Understudy that runs; of one that runs it takes \
            the settings that it does not find itself. Ends with 1 when there is a problem. \
            JSON: {findings: [{check, state: ok|warning|problem, finding, advice}], version, \
            startedAt, libraries, settings, log}: the running Understudy's, with the last lines of \
            its log. While none runs, startedAt is null, log is empty and the settings are those of \
            this command. No token and no password is in it; read it before you send it to another \
            person.
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
        let report = try await report(flags)
        options.show(report) { TerminalText.findings($0.findings) }
        if report.findings.contains(where: { $0.state == .problem }) { throw ExitStatus.error }
    }

    /// What a maintainer needs of an Understudy: one that runs, or that of this command.
    private struct Report: Encodable {
        let findings: [Finding]
        let version: String
        let startedAt: Instant?
        let libraries: [ProcessReport.Library]
        let settings: [ProcessReport.Setting]
        let log: [String]

        init(_ findings: [Finding], _ process: Answers.ProcessReport?, own: Sources) {
            self.findings = findings
            version = process?.version ?? Version.text
            startedAt = process?.startedAt
            libraries = process?.libraries ?? ProcessReport.Library.shared
            settings = process?.settings ?? RunningSettings(own).all
            log = process?.log ?? []
        }
    }

    /// - Parameter flags: further settings by name.
    private func report(_ flags: [String: [String]]) async throws -> Report {
        let own = try options.sources(flags)
        var sources = own
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
        let doctor = Doctor(
            sources: sources, folder: try options.folder(), running: running,
            silence: silence, variables: UnknownVariable.all(ThisProcess.environmentNames))
        return Report(await doctor.findings(), running?.process, own: own)
    }
}
