import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// In whose name an identity's engine speaks. In memory only: after a restart nobody has signed in,
/// unless sign-ins are remembered.
final class SignIn: Sendable {
    private struct State {
        var field: HTTPField?
        /// Whether the backend has said 401 to the field that is here, and has not vouched for it since.
        var isRefused = false
        /// The number of the latest refusal that was taken in.
        var lastRefusal = 0
    }
    private let identity: String
    private let state: Mutex<State>
    private let remembered: RememberedSignIns?
    private let slowLane: SlowLane
    private let tokens: KnownTokens?

    /// Begins with what is remembered of the identity, if anything is.
    /// - Parameter tokens: where a token ends that the backend refuses.
    init(
        _ identity: String, _ remembered: RememberedSignIns?, slowLane: SlowLane,
        tokens: KnownTokens? = nil
    ) {
        self.identity = identity
        self.tokens = tokens
        self.remembered = remembered
        self.slowLane = slowLane
        state = Mutex(State(field: remembered?.field(of: identity)))
    }

    /// What the engine sends with its requests.
    var credential: Credential {
        state.withLock { state in state.field.map { .token($0) } ?? .missing }
    }

    /// Takes a token. A token of the same text in another field is another one.
    /// - Parameters:
    ///   - onlyIfMissing: leaves one that is here already.
    ///   - isVouched: the backend has just taken it; then a refusal of before counts no more.
    /// - Returns: whether the engine has something new to try.
    func take(_ token: Token, onlyIfMissing: Bool, isVouched: Bool) -> Bool {
        let isNew = state.withLock { state in
            let isHere = state.field == token.field
            guard
                isHere ? isVouched && state.isRefused : state.field == nil || !onlyIfMissing
            else { return false }
            state.field = token.field
            state.isRefused = false
            return true
        }
        if isNew { remember() }
        return isNew
    }

    /// Takes in the last 401 that the engine got. The refused token ends: a request with it is asked
    /// about anew, and it is not remembered any more. The engine speaks with it until there is another:
    /// the backend may have been wrong.
    func found(_ refusal: CredentialRefusal?) {
        guard let refusal else { return }
        let refused = state.withLock { state -> HTTPField? in
            guard refusal.number > state.lastRefusal else { return nil }
            state.lastRefusal = refusal.number
            guard let field = state.field, refusal.credential == .token(field), !state.isRefused
            else { return nil }
            state.isRefused = true
            return field
        }
        guard let refused else { return }
        // Where it cannot be kept it holds until the process ends, as ``KnownTokens/end(_:)`` says.
        slowLane.run { [tokens] in try? tokens?.end(Token(of: refused)) }
        remember()
    }

    /// Forgets the token, since the user has signed out.
    func drop() {
        let isHere = state.withLock { state in
            defer { state.field = nil }
            return state.field != nil
        }
        if isHere { remember() }
    }

    /// Brings what is remembered in line with what is here, as it is when the file's turn comes:
    /// whoever was last wins.
    private func remember() {
        guard let remembered else { return }
        slowLane.run { [self] in
            let (field, isRefused) = state.withLock { ($0.field, $0.isRefused) }
            if let field, !isRefused {
                remembered.keep(field, of: identity)
            } else {
                remembered.forget(identity)
            }
        }
    }
}
