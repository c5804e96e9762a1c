import SyncCore
import Synchronization
import TablesProtocol

/// Which token is whose, by fingerprint: kept on disk, so that after a restart a token names its
/// identity while the backend is away. A token gets in here only when the backend has vouched for it,
/// and leaves when the backend refuses it. One that was signed out stays, marked.
final class KnownTokens: Sendable {
    private struct State {
        /// Fingerprints, the latest last.
        var order: [String] = []
        var tokens: [String: KnownToken] = [:]
        /// Fingerprints and claims `exp` by the token itself, in memory only: hashing is not for every
        /// request.
        var recent: [String: (fingerprint: String, expiresAt: Instant?)] = [:]
    }
    private let state: Mutex<State>
    private let file: String
    private let backend: String
    private let now: @Sendable () -> Instant

    /// Reads what is kept. What another backend vouched for names nobody with this one.
    init(file: String, backend: BackendAddress, now: @escaping @Sendable () -> Instant) {
        self.file = file
        self.backend = backend.description
        self.now = now
        var state = State()
        if let bytes = try? Files.read(file), let kept = try? JSONValue(parsing: bytes),
            kept["backend"]?.string == backend.description
        {
            for entry in kept["tokens"]?.array ?? [] {
                guard let print = entry["sha256"]?.string, let key = entry["identity"]?.string
                else { continue }
                // A version that kept no time kept what it took for good.
                let at = entry["confirmedAt"]?.string.flatMap { Instant(iso: $0) } ?? now()
                state.order.append(print)
                state.tokens[print] = KnownToken(
                    identity: Identity(key: key), confirmedAt: at,
                    isSignedOut: entry["signedOut"]?.bool ?? false)
            }
        }
        self.state = Mutex(state)
    }

    /// Whose token it is; nil when nobody has vouched for it.
    func owner(of token: Token) -> Identity? { find(token)?.known.identity }

    /// What is known of a token, and its claim `exp`; nil when nobody has vouched for it.
    func find(_ token: Token) -> (known: KnownToken, expiresAt: Instant?)? {
        let isKnown = state.withLock { state in
            state.recent[token.text].map { recent in
                state.tokens[recent.fingerprint].map { ($0, recent.expiresAt) }
            }
        }
        if let isKnown { return isKnown }
        let recent = (fingerprint: token.fingerprint, expiresAt: token.expiresAt)
        return state.withLock { state in
            guard let known = state.tokens[recent.fingerprint] else { return nil }
            if state.recent.count >= Limits.recentTokens { state.recent = [:] }
            state.recent[token.text] = recent
            return (known, recent.expiresAt)
        }
    }

    /// Learns that the backend takes a token now, and whose it is; keeps it.
    /// - Parameter byLogin: the token came with a login's answer. Only that makes one good again whose user
    ///   has signed out: a question may have been under way meanwhile.
    /// - Throws: the reason when it cannot be kept; it is known all the same until the process ends.
    func learn(
        _ token: Token, of identity: Identity, byLogin: Bool = false
    ) throws(FileFailure) {
        let (fingerprint, at) = (token.fingerprint, now())
        try change { state in
            if !byLogin, state.tokens[fingerprint]?.isSignedOut == true { return false }
            if let known = state.tokens[fingerprint], known.identity == identity,
                !known.isSignedOut,
                at <= known.confirmedAt.adding(seconds: Limits.tokenCheckSeconds)
            {
                return false
            }
            state.order.removeAll { $0 == fingerprint }
            state.order.append(fingerprint)
            state.tokens[fingerprint] = KnownToken(identity: identity, confirmedAt: at)
            if state.order.count > Limits.knownTokens {
                state.tokens[state.order.removeFirst()] = nil
            }
            return true
        }
    }

    /// Ends a token that the backend refuses, or whose time is over: nobody vouches for it any more.
    /// - Throws: the reason when that cannot be kept; it is ended all the same until the process ends.
    func end(_ token: Token) throws(FileFailure) {
        let fingerprint = token.fingerprint
        try change { state in
            // That its user signed out says more.
            guard let known = state.tokens[fingerprint], !known.isSignedOut else { return false }
            state.tokens[fingerprint] = nil
            state.order.removeAll { $0 == fingerprint }
            return true
        }
    }

    /// Ends all tokens of an identity, since its user signs out. The backend may go on taking them;
    /// here they are refused until they come out of a new sign-in.
    /// - Throws: the reason when that cannot be kept; they are ended all the same until the process
    ///   ends.
    func signOut(_ identity: Identity) throws(FileFailure) {
        try change { state in
            for (fingerprint, known) in state.tokens where known.identity == identity {
                state.tokens[fingerprint]?.isSignedOut = true
            }
            return true
        }
    }

    /// The lock is held while the file is written: what is written last is what holds.
    private func change(_ body: (inout State) -> Bool) throws(FileFailure) {
        let failure = state.withLock { state -> FileFailure? in
            guard body(&state) else { return nil }
            do throws(FileFailure) {
                try Files.write(file, Array(text(state).utf8))
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private func text(_ state: State) -> String {
        let tokens = state.order.compactMap { fingerprint in
            state.tokens[fingerprint].map { known in
                JSONValue.members(
                    ("sha256", .string(fingerprint)), ("identity", .string(known.identity.key)),
                    ("confirmedAt", .time(known.confirmedAt)),
                    ("signedOut", .bool(known.isSignedOut)))
            }
        }
        return JSONValue.members(("backend", .string(backend)), ("tokens", .array(tokens))).text
    }
}
