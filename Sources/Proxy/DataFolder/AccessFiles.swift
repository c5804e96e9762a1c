import TablesProtocol

/// The file of the dashboard's sessions, so that browsers stay signed in over a restart.
struct SessionFile: Sendable {
    /// The file, 0600.
    let file: String

    /// The sessions in the file; none when it cannot be read or parsed.
    func load() -> [OperatorAccess.Session] {
        guard let bytes = try? Files.read(file), let list = try? JSONValue(parsing: bytes) else {
            return []
        }
        return (list.array ?? []).compactMap { entry in
            guard let cookie = entry["cookie"]?.string, let value = entry["value"]?.string,
                let expires = entry["expiresAt"]?.string.flatMap({ Instant(iso: $0) })
            else { return nil }
            return OperatorAccess.Session(
                cookie: cookie, value: value, expiresAt: expires,
                browser: entry["browser"]?.string ?? "")
        }
    }

    /// Writes the sessions. If that fails, browsers have to sign in again after the next start.
    func save(_ sessions: [OperatorAccess.Session]) {
        let list = JSONValue.array(
            sessions.map { session in
                .object([
                    .init("cookie", .string(session.cookie)),
                    .init("value", .string(session.value)),
                    .init("expiresAt", .string(session.expiresAt.text)),
                    .init("browser", .string(session.browser)),
                ])
            })
        try? Files.write(file, Array(list.text.utf8))
    }
}

/// The file of the capability addresses. It has the digests of their secrets.
struct CapabilityFile: Sendable {
    /// The file, 0600.
    let file: String

    /// The capabilities in the file; none when it cannot be read or parsed. Then no client can use
    /// `/tables` at such an address.
    func load() -> [Capability] {
        guard let bytes = try? Files.read(file), let list = try? JSONValue(parsing: bytes) else {
            return []
        }
        return (list.array ?? []).compactMap { entry in
            guard let name = entry["name"]?.string, let digest = entry["sha256"]?.string,
                let made = entry["madeAt"]?.string.flatMap({ Instant(iso: $0) })
            else { return nil }
            return Capability(name: name, fingerprint: digest, madeAt: made)
        }
    }

    /// Writes the capabilities.
    func save(_ capabilities: [Capability]) throws(FileFailure) {
        let list = JSONValue.array(
            capabilities.map { capability in
                .members(
                    ("name", .string(capability.name)),
                    ("sha256", .string(capability.fingerprint)),
                    ("madeAt", .time(capability.madeAt)))
            })
        try Files.write(file, Array(list.text.utf8))
    }
}
