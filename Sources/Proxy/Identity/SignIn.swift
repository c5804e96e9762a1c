import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// In whose name an identity's engine speaks. In memory only: after a restart nobody has signed in,
/// unless sign-ins are remembered.
final class SignIn: Sendable {
    private struct State {
        var field: HTTPField?
        /// Whether the backend has said 401 to the field that is here.
        var isRefused = false
        /// The last 401, or want of a token, and what the engine spoke with then.
        var refusal: (credential: Credential, since: Instant, nextTry: Instant?)?
    }
    private let identity: String
    private let state: Mutex<State>
    private let remembered: RememberedSignIns?
    private let slowLane: SlowLane

    /// Begins with what is remembered of the identity, if anything is.
    init(_ identity: String, _ remembered: RememberedSignIns?, slowLane: SlowLane) {
        self.identity = identity
        self.remembered = remembered
        self.slowLane = slowLane
        state = Mutex(State(field: remembered?.field(of: identity)))
    }

    /// What the engine sends with its requests.
    var credential: Credential {
        state.withLock { state in state.field.map { .token($0) } ?? .missing }
    }

    /// Takes a token. A token of the same text in another field is another one.
    /// - Parameter onlyIfMissing: leaves one that is here already.
    /// - Returns: whether it is one that was not here.
    func take(_ token: Token, onlyIfMissing: Bool) -> Bool {
        let isNew = state.withLock { state in
            guard state.field != token.field, state.field == nil || !onlyIfMissing else {
                return false
            }
            state.field = token.field
            state.isRefused = false
            return true
        }
        if isNew { remember() }
        return isNew
    }

    /// Takes in how the backend stands to what the engine speaks with. A refused token is not
    /// remembered, but spoken with until there is another: the backend may have been wrong, and then
    /// it is remembered again.
    func found(_ credential: Credential, _ status: BackendStatus) {
        let isNews = state.withLock { state in
            let isRefused: Bool
            switch status.state {
            case .online, .degraded: isRefused = false
            case .signedOut:
                // It still stands from before a token came, which has not been tried yet.
                if let last = state.refusal, last.credential != credential,
                    last.since == status.since, last.nextTry == status.nextTry
                {
                    return false
                }
                state.refusal = (credential, status.since, status.nextTry)
                isRefused = true
            case .offline, .portal, .notTables: return false
            }
            guard let field = state.field, credential == .token(field),
                state.isRefused != isRefused
            else { return false }
            state.isRefused = isRefused
            return true
        }
        if isNews { remember() }
    }

    /// Forgets a token that its user has signed out.
    func drop(_ token: Token) {
        let isHere = state.withLock { state in
            guard state.field?.value.split(separator: " ").last == token.text[...] else {
                return false
            }
            state.field = nil
            return true
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
