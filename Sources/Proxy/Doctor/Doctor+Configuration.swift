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
        if let backend = value(Settings.backend), backend.scheme == "http", !backend.isLoopback {
            findings.append(
                .warning(
                    "weak settings",
                    "\(backend) is not encrypted: everybody on the way can read it.",
                    "Use its https address."))
        }
        if folder.identities.count > 1 {
            findings.append(
                .warning(
                    "weak settings",
                    "\(folder.identities.count) users' rows are kept here, and every program of "
                        + "this machine can reach /tables.",
                    "Let each user of this machine run an Understudy of their own."))
        }
        return findings
    }
}

extension BackendAddress {
    /// Whether it is on this machine.
    var isLoopback: Bool {
        authority.hasPrefix("127.") || authority.hasPrefix("[::1]")
            || authority.hasPrefix("localhost")
    }
}
