import TablesProtocol

/// The tokens of one identity that an engine may send, and which of them it sends. A value: the choice
/// follows from the tokens and the time.
struct EngineTokens: Sendable, Hashable {
    private struct Held: Sendable, Hashable {
        let token: Token
        let expiresAt: Instant?

        init(_ token: Token) {
            self.token = token
            expiresAt = token.expiresAt
        }

        func isExpired(at now: Instant) -> Bool { TokenStanding.isExpired(expiresAt, at: now) }
    }

    /// What the backend has taken and not refused since, the latest last.
    private var held: [Held] = []
    /// What it refused last.
    private var refused: Held?

    /// The latest token that is neither expired, nor refused, nor signed out; nil when none is left.
    func good(at now: Instant, isSignedOut: (Token) -> Bool) -> Token? {
        held.last { !$0.isExpired(at: now) && !isSignedOut($0.token) }?.token
    }

    /// The token to send: the latest good one, else the one that was refused last, in case the backend
    /// was wrong, as long as it is not expired; nil for none.
    func token(at now: Instant, isSignedOut: (Token) -> Bool) -> Token? {
        if let good = good(at: now, isSignedOut: isSignedOut) { return good }
        guard let refused, !refused.isExpired(at: now), !isSignedOut(refused.token) else {
            return nil
        }
        return refused.token
    }

    /// Takes a token in: as the latest where the backend has just taken it, else behind those that are
    /// here.
    /// - Returns: false where nothing is changed by it: it is here already, or it was refused and the
    ///   backend has not taken it since.
    mutating func take(_ token: Token, isVerified: Bool, at now: Instant) -> Bool {
        if held.last?.token == token { return false }
        guard isVerified || !held.contains(where: { $0.token == token }) && refused?.token != token
        else { return false }
        if refused?.token == token { refused = nil }
        held.removeAll { $0.token == token || $0.isExpired(at: now) }
        if isVerified {
            held.append(Held(token))
            if held.count > Limits.tokensPerIdentity { held.removeFirst() }
        } else if held.count < Limits.tokensPerIdentity {
            held.insert(Held(token), at: 0)
        }
        return true
    }

    /// Records that the backend refuses a token.
    /// - Returns: false where it is not here, or was refused already.
    mutating func refuse(_ token: Token) -> Bool {
        guard let place = held.firstIndex(where: { $0.token == token }) else { return false }
        refused = held.remove(at: place)
        return true
    }
}
