package import Backend
package import TablesProtocol

/// The access to a backend that a site runs for itself: the issuers of users' tokens, and the
/// administrator.
///
/// A value; a reload of the keys replaces it while requests are served.
package struct BackendAccess: TokenVerifier {
    /// This site as an issuer of tokens.
    struct Own: Sendable {
        let issuer: TokenIssuer
        /// The audience of new tokens.
        let audience: String
        /// The lifetime of a new token, in seconds.
        let seconds: Int64
    }

    /// The maker of this site's tokens; nil where this site makes no tokens, and so has no login.
    let own: Own?
    /// The other issuers.
    let providers: [TokenIssuer]
    /// By how many seconds the clocks of issuers and this one may differ.
    let skewSeconds: Int64
    let admin: SecretDigest

    package func user(of text: String, at now: Instant) throws(TokenRefusal) -> VerifiedUser {
        let token = try SignedToken(text)
        guard let name = token.claims["iss"]?.string,
            let issuer = ([own?.issuer].compactMap { $0 } + providers)
                .first(where: { $0.issuer == name })
        else { throw .issuer }
        return try user(token, issuer, now)
    }

    package func login(
        provider: String, token text: String, id: String, at now: Instant
    ) throws(TokenRefusal) -> VerifiedLogin? {
        guard let issuer = providers.first(where: { $0.name == provider }), own != nil else {
            return nil
        }
        let token = try SignedToken(text)
        guard token.claims["iss"]?.string == issuer.issuer else { throw .issuer }
        let user = try user(token, issuer, now)
        return issue(user.id, provider: provider, id: id, at: now)
    }

    package func refresh(
        token text: String, id: String, at now: Instant
    ) throws(TokenRefusal) -> VerifiedLogin? {
        let token = try SignedToken(text)
        guard let own, token.claims["iss"]?.string == own.issuer.issuer else { return nil }
        let user = try user(token, own.issuer, now)
        return issue(user.id, provider: user.provider, id: id, at: now)
    }

    package func isAdministrator(_ token: String) -> Bool { admin.isSecret(token) }

    private func user(
        _ token: SignedToken, _ issuer: TokenIssuer, _ now: Instant
    ) throws(TokenRefusal) -> VerifiedUser {
        try issuer.user(token, now: Double(now.milliseconds) / 1000, skew: Double(skewSeconds))
    }

    private func issue(_ user: String, provider: String, id: String, at now: Instant)
        -> VerifiedLogin?
    {
        guard let own, let key = own.issuer.keys.first else { return nil }
        let seconds = now.milliseconds / 1000
        func time(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
        let claims = JSONValue.object([
            .init("iss", .string(own.issuer.issuer)), .init("aud", .string(own.audience)),
            .init("sub", .string(user)), .init("idp", .string(provider)),
            .init("iat", time(seconds)), .init("nbf", time(seconds)),
            .init("exp", time(seconds + own.seconds)), .init("jti", .string(id)),
        ])
        let token = SignedToken.text(.hs256, claims) { key.sign($0) ?? [] }
        return VerifiedLogin(token: token, user: user)
    }
}

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
    package init(
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
package struct AccessProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence.
    package let description: String

    init(_ description: String) { self.description = description }
}
