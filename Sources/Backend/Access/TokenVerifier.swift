package import TablesProtocol

/// Whose requests a backend accepts. A value; a reload of the keys replaces it while requests are served.
package protocol TokenVerifier: Sendable {
    /// The user of a token.
    func user(of text: String, at now: Instant) throws(TokenRefusal) -> VerifiedUser

    /// Exchanges a token of a provider for one of this site.
    /// - Parameter id: the id of the new token.
    /// - Returns: nil where this site makes no tokens, or has no such provider.
    func login(
        provider: String, token text: String, id: String, at now: Instant
    ) throws(TokenRefusal) -> VerifiedLogin?

    /// Makes a new token for the user of one that still holds.
    /// - Parameter id: the id of the new token.
    /// - Returns: nil where the token is not one of this site.
    func refresh(
        token text: String, id: String, at now: Instant
    ) throws(TokenRefusal) -> VerifiedLogin?

    /// Whether a token is the administrator's.
    func isAdministrator(_ token: String) -> Bool
}

/// A token that a login made, and its user.
package struct VerifiedLogin: Sendable, Hashable {
    package let token: String
    package let user: String

    package init(token: String, user: String) { (self.token, self.user) = (token, user) }
}

/// A user whose token was verified.
package struct VerifiedUser: Sendable, Hashable {
    /// The id of the user: the provider's name, a colon, and the provider's id for the user.
    package let id: String
    /// The name of the provider that confirmed the user.
    package let provider: String
    /// The claims of the token.
    package let claims: JSONValue

    package init(id: String, provider: String, claims: JSONValue) {
        (self.id, self.provider, self.claims) = (id, provider, claims)
    }
}

/// Why a token is refused, as a sentence that holds nothing of the token.
package enum TokenRefusal: String, Error, Sendable, Hashable, CaseIterable {
    case malformed = "The token is not a JSON Web Token."
    case algorithm = "The token's algorithm is not HS256, RS256 or ES256."
    case issuer = "The token's issuer is not known here."
    case signature = "The token's signature is not that of its issuer."
    case audience = "The token is for another audience."
    case noExpiry = "The token does not say when it expires."
    case expired = "The token has expired."
    case early = "The token does not hold yet."
    case user = "The token does not say who the user is."
}
