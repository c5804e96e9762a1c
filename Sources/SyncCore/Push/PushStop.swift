/// Why a push ended before everything due was tried.
enum PushStop: Sendable, Hashable {
    /// The backend cannot be used now.
    case backend(Prover.Failure)
    case signIn
    case cancelled
    /// The store could not be written.
    case store(String)

    /// One table is not there, or cannot be listed; the others may be.
    var isAboutTable: Bool {
        if case .backend(let failure) = self { return failure.isAboutTable }
        return false
    }
}
