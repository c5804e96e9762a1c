import HTTPTypes
import SyncCore
import Synchronization

/// In whose name an identity's engine speaks, in memory only: after a restart nobody has signed in.
final class SignIn: Sendable {
    private let field = Mutex<HTTPField?>(nil)

    /// What the engine sends with its requests.
    var credential: Credential {
        field.withLock { field in field.map { .token($0) } ?? .missing }
    }

    /// Takes a token. A token of the same text in another field is another one.
    /// - Parameter onlyIfMissing: leaves one that is here already.
    /// - Returns: whether it is one that was not here.
    func take(_ token: Token, onlyIfMissing: Bool) -> Bool {
        field.withLock { field in
            guard field != token.field, field == nil || !onlyIfMissing else { return false }
            field = token.field
            return true
        }
    }
}
