public import HTTPTypes

/// In whose name the engine speaks to the backend.
public enum Credential: Sendable, Hashable {
    /// Nobody's: the anonymous identity sends no token.
    case none
    /// The header field that carries the identity's token, as its client sent it.
    case token(HTTPField)
    /// The identity has a name but its token is not here, after a restart for example: nothing is
    /// sent until somebody signs in.
    case missing
}
