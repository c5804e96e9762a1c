import TablesProtocol

/// An issuer whose tokens are accepted, with the claims that they must have.
struct TokenIssuer: Sendable {
    /// The name by which clients log in with it, and with which the ids of its users begin; nil for this
    /// site itself.
    let name: String?
    /// The claim `iss`.
    let issuer: String
    /// The accepted values of the claim `aud`.
    let audiences: Set<String>
    /// The keys of the signatures.
    let keys: [TokenKey]
    /// The claim that says who the user is.
    let userClaim: String

    /// The user of a token of this issuer.
    /// - Parameters:
    ///   - token: a token that names this issuer.
    ///   - now: seconds since 1970.
    ///   - skew: by how many seconds the issuer's clock and this one may differ.
    func user(
        _ token: SignedToken, now: Double, skew: Double
    ) throws(TokenRefusal) -> VerifiedUser {
        guard keys.contains(where: { $0.verifies(token) }) else { throw .signature }
        let claims = token.claims
        let named = claims["aud"]?.array ?? [claims["aud"] ?? .null]
        guard named.contains(where: { $0.string.map(audiences.contains) ?? false }) else {
            throw .audience
        }
        guard let end = claims["exp"] else { throw .noExpiry }
        guard let seconds = Self.seconds(end) else { throw .malformed }
        if now >= seconds + skew { throw .expired }
        for name in ["nbf", "iat"] {
            guard let start = claims[name] else { continue }
            guard let seconds = Self.seconds(start) else { throw .malformed }
            if now < seconds - skew { throw .early }
        }
        guard let subject = claims[userClaim]?.string, !subject.isEmpty else { throw .user }
        // The whole id is the subject of a token that a login makes, so it has the limits of one.
        let id = name.map { "\($0):\(subject)" } ?? subject
        guard Self.isName(id) else { throw .user }
        return VerifiedUser(
            id: id, provider: name ?? claims["idp"]?.string ?? "", claims: claims)
    }

    /// Seconds since 1970 (RFC 7519, section 2); nil for what is no such number.
    private static func seconds(_ value: JSONValue) -> Double? {
        guard case .number(let number) = value, let seconds = Double(number.text),
            seconds.isFinite
        else { return nil }
        return seconds
    }

    private static func isName(_ text: String) -> Bool {
        (1...Limits.userBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

/// A user whose token was verified.
struct VerifiedUser: Sendable, Hashable {
    /// The id of the user: the provider's name, a colon, and the provider's id for the user.
    let id: String
    /// The name of the provider that confirmed the user.
    let provider: String
    /// The claims of the token.
    let claims: JSONValue
}
