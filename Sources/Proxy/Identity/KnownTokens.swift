import SyncCore
import Synchronization
import TablesProtocol

/// Which token is whose, by fingerprint: kept on disk, so that after a restart a token names its
/// identity while the backend is away. A token is taken in only when the backend has confirmed it, and
/// removed when the backend refuses it. One that was signed out stays, marked.
final class KnownTokens: Sendable {
    private struct Kept {
        /// Fingerprints, the latest last.
        var order: [String] = []
        var tokens: [String: KnownToken] = [:]
    }
    private let kept: SharedFile<Kept>
    /// Fingerprints and claims `exp` by the token itself: hashing is not for every request.
    private let recent = Mutex<[String: (fingerprint: String, expiresAt: Instant?)]>([:])
    private let now: @Sendable () -> Instant

    /// Reads what is kept. A token that another backend took has no owner with this one.
    init(file: String, backend: BackendAddress, now: @escaping @Sendable () -> Instant) {
        self.now = now
        var kept = Kept()
        if let bytes = try? Files.read(file), let json = try? JSONValue(parsing: bytes),
            json["backend"]?.string == backend.description
        {
            for entry in json["tokens"]?.array ?? [] {
                guard let print = entry["sha256"]?.string, let key = entry["identity"]?.string
                else { continue }
                // A version that kept no time kept what it took for good.
                let at = entry["confirmedAt"]?.string.flatMap { Instant(iso: $0) } ?? now()
                kept.order.append(print)
                kept.tokens[print] = KnownToken(
                    identity: Identity(key: key), confirmedAt: at,
                    isSignedOut: entry["signedOut"]?.bool ?? false)
            }
        }
        let backend = backend.description
        self.kept = SharedFile(kept) { kept in
            do throws(FileFailure) {
                try Files.write(file, Array(Self.text(kept, backend).utf8))
                return nil
            } catch {
                return error
            }
        }
    }

    /// The identity that a token belongs to; nil when the backend has not taken the token.
    func owner(of token: Token) -> Identity? { find(token)?.known.identity }

    /// What is known of a token, and its claim `exp`; nil when the backend has not taken the token. Never
    /// waits for the file.
    func find(_ token: Token) -> (known: KnownToken, expiresAt: Instant?)? {
        let held = recent.withLock { $0[token.text] }
        let print = held ?? (fingerprint: token.fingerprint, expiresAt: token.expiresAt)
        guard let known = kept.read({ $0.tokens[print.fingerprint] }) else { return nil }
        if held == nil {
            recent.withLock { recent in
                if recent.count >= Limits.recentTokens { recent = [:] }
                recent[token.text] = print
            }
        }
        return (known, print.expiresAt)
    }

    /// Learns that the backend takes a token now, and whose it is. It is on disk after ``save()``.
    /// - Parameter byLogin: the token came with a login's answer. Only that makes one good again whose user
    ///   has signed out: a question may have been under way meanwhile.
    func learn(_ token: Token, of identity: Identity, byLogin: Bool = false) {
        let (fingerprint, at) = (token.fingerprint, now())
        kept.change { kept in
            if !byLogin, kept.tokens[fingerprint]?.isSignedOut == true { return false }
            if let known = kept.tokens[fingerprint], known.identity == identity,
                !known.isSignedOut,
                at <= known.confirmedAt.adding(seconds: Limits.tokenCheckSeconds)
            {
                return false
            }
            kept.order.removeAll { $0 == fingerprint }
            kept.order.append(fingerprint)
            kept.tokens[fingerprint] = KnownToken(identity: identity, confirmedAt: at)
            if kept.order.count > Limits.knownTokens {
                kept.tokens[kept.order.removeFirst()] = nil
            }
            return true
        }
    }

    /// Ends a token that the backend refuses, or that is expired: it belongs to no identity any more. It
    /// has ended on disk after ``save()``.
    func end(_ token: Token) {
        let fingerprint = token.fingerprint
        kept.change { kept in
            // That its user signed out says more.
            guard let known = kept.tokens[fingerprint], !known.isSignedOut else { return false }
            kept.tokens[fingerprint] = nil
            kept.order.removeAll { $0 == fingerprint }
            return true
        }
    }

    /// Ends all tokens of an identity, since its user signs out. The backend may go on taking them;
    /// here they are refused until they come out of a new sign-in. They have ended on disk after
    /// ``save()``.
    func signOut(_ identity: Identity) {
        kept.change { kept in
            for (fingerprint, known) in kept.tokens where known.identity == identity {
                kept.tokens[fingerprint]?.isSignedOut = true
            }
            return true
        }
    }

    /// Returns when all that was learned and ended before is on disk; blocks. Callers that come while the
    /// file is written share the next write.
    /// - Throws: the reason when it cannot be kept; it holds all the same until the process ends.
    func save() throws(FileFailure) { try kept.save() }

    private static func text(_ kept: Kept, _ backend: String) -> String {
        let tokens = kept.order.compactMap { fingerprint in
            kept.tokens[fingerprint].map { known in
                JSONValue.members(
                    ("sha256", .string(fingerprint)), ("identity", .string(known.identity.key)),
                    ("confirmedAt", .time(known.confirmedAt)),
                    ("signedOut", .bool(known.isSignedOut)))
            }
        }
        return JSONValue.members(("backend", .string(backend)), ("tokens", .array(tokens))).text
    }
}

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
        _ known: KnownToken, expiresAt: Instant?, backend: BackendStatusCache.Reach,
        at now: Instant,
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
