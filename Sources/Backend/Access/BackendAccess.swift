import TablesProtocol

/// The access to a backend that a site runs for itself: the issuers of users' tokens, and the
/// administrator.
///
/// A value; a reload of the keys replaces it while requests are served.
public struct BackendAccess: Sendable {
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

    /// A token that a login made, and its user.
    struct Login: Sendable, Hashable {
        let token: String
        let user: String
    }

    /// The user of a token.
    func user(of text: String, at now: Instant) throws(TokenRefusal) -> VerifiedUser {
        let token = try SignedToken(text)
        guard let name = token.claims["iss"]?.string,
            let issuer = ([own?.issuer].compactMap { $0 } + providers)
                .first(where: { $0.issuer == name })
        else { throw .issuer }
        return try user(token, issuer, now)
    }

    /// Exchanges a token of a provider for one of this site.
    /// - Returns: nil where this site makes no tokens, or has no such provider.
    func login(
        provider: String, token text: String, id: String, at now: Instant
    ) throws(TokenRefusal) -> Login? {
        guard let issuer = providers.first(where: { $0.name == provider }), own != nil else {
            return nil
        }
        let token = try SignedToken(text)
        guard token.claims["iss"]?.string == issuer.issuer else { throw .issuer }
        let user = try user(token, issuer, now)
        return issue(user.id, provider: provider, id: id, at: now)
    }

    /// Makes a new token for the user of one that still holds.
    /// - Returns: nil where the token is not one of this site.
    func refresh(
        token text: String, id: String, at now: Instant
    ) throws(TokenRefusal) -> Login? {
        let token = try SignedToken(text)
        guard let own, token.claims["iss"]?.string == own.issuer.issuer else { return nil }
        let user = try user(token, own.issuer, now)
        return issue(user.id, provider: user.provider, id: id, at: now)
    }

    private func user(
        _ token: SignedToken, _ issuer: TokenIssuer, _ now: Instant
    ) throws(TokenRefusal) -> VerifiedUser {
        try issuer.user(token, now: Double(now.milliseconds) / 1000, skew: Double(skewSeconds))
    }

    private func issue(_ user: String, provider: String, id: String, at now: Instant) -> Login? {
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
        return Login(token: token, user: user)
    }
}
