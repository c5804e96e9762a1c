import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// The token that an identity's engine sends. In memory only: after a restart there is no token, unless
/// sign-ins are remembered.
///
/// An identity has a token for each of its devices. The engine sends the latest that is neither expired,
/// nor refused, nor signed out (``EngineTokens``).
final class SignIn: Sendable {
    private let identity: String
    private let state: Mutex<EngineTokens>
    private let remembered: RememberedSignIns?
    /// Where files are written, one after another.
    private let executor: BlockingExecutor
    private let known: KnownTokens?
    private let now: @Sendable () -> Instant

    /// Begins with what is remembered of the identity, if anything is.
    /// - Parameters:
    ///   - executor: where files are written.
    ///   - known: where a token ends that the backend refuses, and what is known of those signed out.
    init(
        _ identity: String, _ remembered: RememberedSignIns?, executor: BlockingExecutor,
        known: KnownTokens? = nil, now: @escaping @Sendable () -> Instant
    ) {
        self.identity = identity
        self.known = known
        self.remembered = remembered
        self.executor = executor
        self.now = now
        var tokens = EngineTokens()
        if let field = remembered?.field(of: identity) {
            _ = tokens.take(Token(of: field), isVerified: true, at: now())
        }
        state = Mutex(tokens)
    }

    /// What the engine sends with its requests.
    var credential: Credential {
        let at = now()
        return state.withLock { tokens in
            tokens.token(at: at, isSignedOut: isSignedOut).map { .token($0.field) } ?? .missing
        }
    }

    private func isSignedOut(_ token: Token) -> Bool {
        known?.find(token)?.known.isSignedOut == true
    }

    /// Takes a token. A token of the same text in another field is another one.
    /// - Parameter isVerified: the backend has just taken it, so that it is the latest. One that merely
    ///   came with a request stands behind those that are here.
    /// - Returns: whether the engine has something new to try.
    func take(_ token: Token, isVerified: Bool) -> Bool {
        let at = now()
        return state.withLock { tokens in
            let before = tokens.token(at: at, isSignedOut: isSignedOut)
            guard tokens.take(token, isVerified: isVerified, at: at) else { return false }
            remember(tokens, at)
            let isTriedAnew = before == token && isVerified
            return isTriedAnew || tokens.token(at: at, isSignedOut: isSignedOut) != before
        }
    }

    /// Records that the backend refuses a token, which ends: a request with it is asked about anew. The
    /// engine goes on with the next; where there is none, with this one until another comes, since the
    /// backend may have been wrong.
    func refuse(_ token: Token) {
        let at = now()
        let isHere = state.withLock { tokens in
            guard tokens.refuse(token) else { return false }
            remember(tokens, at)
            return true
        }
        guard isHere, let known else { return }
        known.end(token)
        // Where it cannot be kept it holds until the process ends, as ``KnownTokens/save()`` says.
        executor.run { try? known.save() }
    }

    /// Forgets all tokens, since the user has signed out.
    func drop() {
        let at = now()
        state.withLock { tokens in
            tokens = EngineTokens()
            remember(tokens, at)
        }
    }

    /// Brings what is remembered in line with what is here, under the lock: the last change is what holds.
    private func remember(_ tokens: EngineTokens, _ at: Instant) {
        guard let remembered else { return }
        remembered.keep(tokens.good(at: at, isSignedOut: isSignedOut)?.field, of: identity)
        executor.run { remembered.save() }
    }
}

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
