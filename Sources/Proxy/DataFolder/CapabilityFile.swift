import TablesProtocol

/// The capability addresses on disk, by the digests of their secrets.
struct CapabilityFile: Sendable {
    /// The file, 0600.
    let file: String

    /// Those of the last run; none when the file cannot be understood, which lets no client use
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

    /// Keeps them.
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
