import Proxy
import SyncCore
import TablesProtocol

/// Looks at everything that can keep an Understudy from doing its work, from outside: it needs none
/// that runs, and disturbs none that does.
struct Doctor: Sendable {
    let sources: Sources
    let folder: DataFolder
    /// Whether an Understudy runs on the folder.
    let isRunning: Bool
    /// Tables that its clients have read and that are in no store yet.
    let wanted: [TableName]

    /// Looks at all of it, in the order in which one thing needs the other.
    func findings() async -> [Finding] {
        var findings = configurationFindings()
        findings += folderFindings()
        let stores = inspectStores()
        findings += storeFindings(stores)
        findings += await listeningFindings()
        findings += await backendFindings(stores)
        return findings
    }

    /// The value of a setting, or nil where it is wrong, which is a finding of its own.
    func value<Value>(_ setting: Setting<Value>) -> Value? { try? sources.value(setting) }

    /// The values of a list, as far as they are right.
    func list<Value>(_ setting: Setting<Value>) -> [Value] { (try? sources.list(setting)) ?? [] }
}

// Wrong values, and those that are right but weak.
extension Doctor {
    func configurationFindings() -> [Finding] {
        var findings: [Finding] = []
        for setting in ServeSetting.all {
            for said in sources.said(setting) where !setting.accepts(said.text) {
                findings.append(
                    .problem(
                        "configuration", "\(said.place) is \"\(said.text)\".",
                        "It must be \(setting.allowed)."))
            }
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

/// One thing that was looked at, and how it is.
struct Finding: Sendable, Hashable {
    /// How it is.
    enum State: String, Sendable, Hashable, CaseIterable {
        case ok
        /// It works, but the operator should know.
        case warning
        /// It does not work, or not as promised.
        case problem
    }

    /// What was looked at, in a word or two that never change.
    let check: String
    let state: State
    /// What was seen, in a sentence.
    let finding: String
    /// What to do about it, in a sentence; nil when there is nothing to do.
    var advice: String?

    /// All is well.
    static func ok(_ check: String, _ finding: String) -> Finding {
        Finding(check: check, state: .ok, finding: finding)
    }

    /// The operator should know.
    static func warning(_ check: String, _ finding: String, _ advice: String) -> Finding {
        Finding(check: check, state: .warning, finding: finding, advice: advice)
    }

    /// It does not work.
    static func problem(_ check: String, _ finding: String, _ advice: String) -> Finding {
        Finding(check: check, state: .problem, finding: finding, advice: advice)
    }

    /// As the command writes it.
    var json: JSONValue {
        .members(
            ("check", .string(check)), ("state", .string(state.rawValue)),
            ("finding", .string(finding)), ("advice", .text(advice)))
    }
}
