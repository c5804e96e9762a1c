/// Why a push ended before everything due was tried.
enum PushStop: Sendable, Hashable {
    /// The backend cannot be used now.
    case backend(Prover.Failure)
    case signIn
    case cancelled
    /// The store could not be written.
    case store(String)
}
