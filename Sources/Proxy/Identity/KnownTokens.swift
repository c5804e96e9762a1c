import Platform
import SyncCore
import Synchronization
import TablesProtocol

/// The owners of tokens by fingerprint. They are on disk, so that after a restart a token names its
/// identity while the backend cannot be reached. A token is added when the backend has confirmed it, and
/// removed when the backend refuses it. A token whose user has signed out stays, and is marked.
final class KnownTokens: Sendable {
    private struct Kept {
        /// The fingerprints, the latest last.
        var order: [String] = []
        var tokens: [String: KnownToken] = [:]
    }
    private let kept: SharedFile<Kept>
    /// Fingerprints and claims `exp` by token, so that a token is not hashed for every request.
    private let recent = Mutex<[String: (fingerprint: String, expiresAt: Instant?)]>([:])
    private let now: @Sendable () -> Instant

    /// Reads the file. A file of another backend counts as empty.
    init(file: String, backend: BackendAddress, now: @escaping @Sendable () -> Instant) {
        self.now = now
        var kept = Kept()
        if let bytes = try? Files.read(file), let json = try? JSONValue(parsing: bytes),
            json["backend"]?.string == backend.description
        {
            for entry in json["tokens"]?.array ?? [] {
                guard let fingerprint = entry["sha256"]?.string, let key = entry["identity"]?.string
                else { continue }
                // An earlier version wrote no time; its tokens count as confirmed now.
                let at = entry["confirmedAt"]?.string.flatMap { Instant(iso: $0) } ?? now()
                kept.order.append(fingerprint)
                kept.tokens[fingerprint] = KnownToken(
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

    /// The identity that a token belongs to; nil if the backend has not accepted the token.
    func owner(of token: Token) -> Identity? { find(token)?.known.identity }

    var owners: Set<String> { owners(since: .earliest) }

    /// The identities of which the backend has accepted a token since a time.
    func owners(since time: Instant) -> Set<String> {
        kept.read { kept in
            Set(kept.tokens.values.filter { $0.confirmedAt >= time }.map(\.identity.key))
        }
    }

    /// The entry of a token, and its claim `exp`; nil if the backend has not accepted the token. Never
    /// waits for the file.
    func find(_ token: Token) -> (known: KnownToken, expiresAt: Instant?)? {
        let held = recent.withLock { $0[token.text] }
        let digest = held ?? (fingerprint: token.fingerprint, expiresAt: token.expiresAt)
        guard let known = kept.read({ $0.tokens[digest.fingerprint] }) else { return nil }
        if held == nil {
            recent.withLock { recent in
                if recent.count >= Limits.recentTokens { recent = [:] }
                recent[token.text] = digest
            }
        }
        return (known, digest.expiresAt)
    }

    /// Records that the backend accepts a token now, and its owner. It is on disk after ``save()``.
    /// - Parameter byLogin: whether the token came with a login's answer. Only a login makes a token valid
    ///   again whose user has signed out: a verification may have been running when the user signed out.
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

    /// Removes a token that the backend refuses, or that has expired. It is removed on disk after ``save()``.
    func end(_ token: Token) {
        let fingerprint = token.fingerprint
        kept.change { kept in
            // The mark of a sign-out stays.
            guard let known = kept.tokens[fingerprint], !known.isSignedOut else { return false }
            kept.tokens[fingerprint] = nil
            kept.order.removeAll { $0 == fingerprint }
            return true
        }
    }

    /// Marks all tokens of an identity as signed out. The backend may still accept them, but this program
    /// refuses them until a new login returns them. They are marked on disk after ``save()``.
    func signOut(_ identity: Identity) {
        kept.change { kept in
            for (fingerprint, known) in kept.tokens where known.identity == identity {
                kept.tokens[fingerprint]?.isSignedOut = true
            }
            return true
        }
    }

    /// Removes all tokens of an identity, those of a user who has signed out too: its store goes to another
    /// user. The backend says at the next request of each whose it is. They are removed on disk after
    /// ``save()``.
    func forget(_ identity: Identity) {
        kept.change { kept in
            let count = kept.tokens.count
            kept.tokens = kept.tokens.filter { $0.value.identity != identity }
            kept.order = kept.order.filter { kept.tokens[$0] != nil }
            return kept.tokens.count != count
        }
    }

    /// Blocks until all earlier changes are on disk. Callers that come while the file is written share the
    /// next write.
    /// - Throws: why the file cannot be written. The changes hold in memory until the process ends.
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

/// Whether a token that the backend has accepted before is still valid.
///
/// If the backend can be reached, it decides. Otherwise `exp` and the time since the last confirmation decide
/// (DESIGN section 6, Identity).
enum TokenStanding: Sendable, Hashable {
    /// It is valid.
    /// - isDue: whether the backend is asked again, in the background.
    case good(isDue: Bool)
    /// It is accepted until then, though the backend cannot confirm it now. The answer reports that.
    case unconfirmed(until: Instant)
    /// The backend has to be asked before the request is answered.
    case doubtful
    /// It is not valid: the answer is 401.
    case ended

    /// Decides the standing of a token.
    /// - Parameters:
    ///   - known: its entry.
    ///   - expiresAt: its claim `exp`; nil without one.
    ///   - backend: whether the backend can be reached.
    ///   - graceSeconds: seconds for which a token is accepted that the backend does not confirm.
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

    /// Whether a claim `exp` is over by more than ``Limits/tokenClockSkewSeconds``.
    static func isExpired(_ expiresAt: Instant?, at now: Instant) -> Bool {
        guard let expiresAt else { return false }
        return now > expiresAt.adding(seconds: Limits.tokenClockSkewSeconds)
    }
}

/// The entry of a token that the backend has accepted.
struct KnownToken: Sendable, Hashable {
    var identity: Identity
    /// When the backend last accepted it.
    var confirmedAt: Instant
    /// Whether its user has signed out since. Then only a new login makes it valid.
    var isSignedOut = false
}
