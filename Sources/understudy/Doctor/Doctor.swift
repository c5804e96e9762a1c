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

/// The result of one check.
struct Finding: Sendable, Hashable {
    /// How serious it is.
    enum State: String, Sendable, Hashable, CaseIterable {
        case ok
        /// It works, with a risk.
        case warning
        /// It does not work, or not completely.
        case problem
    }

    /// The name of the check, which never changes.
    let check: String
    let state: State
    /// The result in a sentence.
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

    /// The JSON of the finding.
    var json: JSONValue {
        .members(
            ("check", .string(check)), ("state", .string(state.rawValue)),
            ("finding", .string(finding)), ("advice", .text(advice)))
    }
}
