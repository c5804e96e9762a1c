import TablesProtocol

/// Whether a token that the backend has taken before is still good here.
///
/// The backend decides where it can be asked; `exp` and the time since it last took the token decide
/// where it cannot (DESIGN section 6, Identity).
enum TokenStanding: Sendable, Hashable {
    /// It is good.
    /// - isDue: the backend is to be asked again, beside the answer.
    case good(isDue: Bool)
    /// The backend cannot confirm it now; it is taken until then, and the answer says so.
    case unconfirmed(until: Instant)
    /// The backend has to be asked before the request is answered.
    case doubtful
    /// It is no longer good: the answer is 401.
    case ended

    /// Judges a token.
    /// - Parameters:
    ///   - known: what is known of it.
    ///   - expiresAt: its claim `exp`; nil without one.
    ///   - backend: whether the backend can be reached, as far as is known.
    ///   - graceSeconds: how long a token is taken that the backend does not confirm.
    static func of(
        _ known: KnownToken, expiresAt: Instant?, backend: BackendStatusCache.Reach, at now: Instant,
        graceSeconds: Int64
    ) -> TokenStanding {
        if known.isSignedOut { return .ended }
        let until = known.confirmedAt.adding(seconds: graceSeconds)
        switch backend {
        case .away: return now <= until ? .unconfirmed(until: until) : .ended
        case .reachable where isExpired(expiresAt, at: now): return .doubtful
        case .reachable:
            let due = known.confirmedAt.adding(seconds: Limits.tokenCheckSeconds)
            return .good(isDue: now > due)
        case .unasked where isExpired(expiresAt, at: now) || now > until: return .doubtful
        case .unasked: return .unconfirmed(until: until)
        }
    }

    /// Whether the time of a claim `exp` is over, also where the two clocks differ a little.
    static func isExpired(_ expiresAt: Instant?, at now: Instant) -> Bool {
        guard let expiresAt else { return false }
        return now > expiresAt.adding(seconds: Limits.tokenClockSkewSeconds)
    }
}

/// What is known of a token that the backend has taken.
struct KnownToken: Sendable, Hashable {
    /// Whose it is.
    var identity: Identity
    /// When the backend last took it.
    var confirmedAt: Instant
    /// Its user has signed out since: only a new sign-in brings it back.
    var isSignedOut = false
}
