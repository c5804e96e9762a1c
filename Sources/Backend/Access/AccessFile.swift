import TablesProtocol

/// The file that says whose tokens are accepted: a JSON object.
///
/// | member | what |
/// |---|---|
/// | `own` | this site as an issuer of tokens: `issuer`, `audience`, `keyFile`, `tokenHours` (24) |
/// | `providers` | a list of others: `name`, `issuer`, `audiences`, `jwksFile`, `userClaim` (`sub`) |
/// | `clockSkewSeconds` | by how much clocks may differ (60) |
///
/// `own`, `providers` or both have to be there. Paths are relative to the file's folder.
struct AccessFile {
    /// Reads a file that is named in this one.
    let read: (String) throws -> [UInt8]

    /// The access that a file's bytes say.
    /// - Throws: ``AccessProblem``, or what reading a file throws.
    func access(_ bytes: [UInt8], admin: SecretDigest) throws -> BackendAccess {
        let file: JSONValue
        do {
            file = try JSONValue(parsing: bytes)
        } catch {
            throw AccessProblem("It is not JSON: \(error)")
        }
        try check(file, "the file", ["own", "providers", "clockSkewSeconds"])
        let skew =
            try integer(file, "clockSkewSeconds", 0...Limits.clockSkewSeconds)
            ?? Limits.usualClockSkewSeconds
        let own = try file["own"].map(own)
        guard let list = (file["providers"] ?? .array([])).array else {
            throw AccessProblem("\"providers\" has to be a list.")
        }
        let providers = try list.map(provider)
        let issuers = [own?.issuer].compactMap { $0 } + providers
        if issuers.isEmpty { throw AccessProblem("It names neither \"own\" nor \"providers\".") }
        for (word, values) in [
            ("issuer", issuers.map(\.issuer)), ("name", providers.compactMap(\.name)),
        ] where Set(values).count < values.count {
            throw AccessProblem("Two of them have the same \"\(word)\".")
        }
        return BackendAccess(own: own, providers: providers, skewSeconds: skew, admin: admin)
    }

    private func own(_ value: JSONValue) throws -> BackendAccess.Own {
        try check(value, "\"own\"", ["issuer", "audience", "keyFile", "tokenHours"])
        let path = try text(value, "keyFile", "\"own\"")
        guard let key = TokenKey(shared: try line(path)) else {
            throw AccessProblem(
                "The key in \(path) has to have \(Limits.sharedKeyBytes) bytes or more; "
                    + "`openssl rand -hex 32` makes one.")
        }
        let audience = try text(value, "audience", "\"own\"")
        let hours =
            try integer(value, "tokenHours", 1...Limits.tokenHours)
            ?? Limits.usualTokenHours
        let issuer = TokenIssuer(
            name: nil, issuer: try text(value, "issuer", "\"own\""), audiences: [audience],
            keys: [key], userClaim: "sub")
        return BackendAccess.Own(issuer: issuer, audience: audience, seconds: hours * 3600)
    }

    private func provider(_ value: JSONValue) throws -> TokenIssuer {
        try check(
            value, "a provider", ["name", "issuer", "audiences", "jwksFile", "userClaim"])
        let name = try text(value, "name", "a provider")
        guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !":/?#%".utf8.contains($0) })
        else {
            throw AccessProblem("\"\(name)\" is no name of a provider: use letters and digits.")
        }
        let audiences = (value["audiences"]?.array ?? []).compactMap(\.string)
        guard !audiences.isEmpty, audiences.count == value["audiences"]?.array?.count else {
            throw AccessProblem("\"audiences\" of \(name) has to be a list of texts, not empty.")
        }
        let path = try text(value, "jwksFile", name)
        guard let keys = TokenKey.set(parsing: try read(path)) else {
            throw AccessProblem("\(path) is not a JWK set: an object with the list \"keys\".")
        }
        if keys.isEmpty {
            throw AccessProblem(
                "\(path) has no key for RS256 (from \(Limits.rsaKeyBits) bits) or ES256 (P-256).")
        }
        return TokenIssuer(
            name: name, issuer: try text(value, "issuer", name), audiences: Set(audiences),
            keys: keys,
            userClaim: value["userClaim"] == nil ? "sub" : try text(value, "userClaim", name))
    }

    private func check(_ value: JSONValue, _ place: String, _ known: Set<String>) throws {
        guard case .object(let members) = value else {
            throw AccessProblem("\(place) has to be a JSON object.")
        }
        if let member = members.first(where: { !known.contains($0.name) }) {
            throw AccessProblem(
                "\"\(member.name)\" is not known in \(place); known are "
                    + "\(known.sorted().joined(separator: ", ")).")
        }
    }

    private func text(_ value: JSONValue, _ name: String, _ place: String) throws -> String {
        guard let text = value[name]?.string, !text.isEmpty else {
            throw AccessProblem("\"\(name)\" of \(place) is missing or no text.")
        }
        return text
    }

    private func integer(
        _ value: JSONValue, _ name: String, _ range: ClosedRange<Int64>
    ) throws -> Int64? {
        guard let found = value[name] else { return nil }
        guard let number = found.integer, range.contains(number) else {
            throw AccessProblem(
                "\"\(name)\" has to be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound).")
        }
        return number
    }

    /// The first line of a file.
    private func line(_ path: String) throws -> [UInt8] {
        Array(try read(path).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
    }
}

extension BackendAccess {
    /// Reads the file that says whose tokens are accepted; `docs/OPERATIONS.md` describes it.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - adminToken: what the administrator's requests carry, at least ``Limits/sharedKeyBytes``.
    ///   - read: the bytes of a file that this one names.
    /// - Throws: ``AccessProblem``, or what `read` throws.
    public init(
        parsing bytes: [UInt8], adminToken: String, read: (String) throws -> [UInt8]
    ) throws {
        // A header field carries no others.
        let isVisible = adminToken.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isVisible, adminToken.utf8.count >= Limits.sharedKeyBytes else {
            throw AccessProblem(
                "The administrator's token has to have \(Limits.sharedKeyBytes) characters of ASCII or "
                    + "more, and no blanks; `openssl rand -hex 32` makes one.")
        }
        self = try withoutActuallyEscaping(read) { read in
            try AccessFile(read: read).access(bytes, admin: SecretDigest(adminToken))
        }
    }
}

/// Why the file of the access cannot be used.
public struct AccessProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}
