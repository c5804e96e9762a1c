import Proxy
import SyncCore

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
