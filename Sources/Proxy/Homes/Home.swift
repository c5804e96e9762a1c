import SyncCore

/// What belongs to one identity: its store, its engine, and what its requests need to know of both
/// without waiting.
struct Home: Sendable {
    /// Whose it is: `anonymous`, or the key of somebody who signed in.
    let identity: String
    let store: Store
    let engine: SyncEngine
    /// How the backend stands, as last told by the engine.
    let board: BackendBoard
    /// The token that the engine speaks with; nil for `anonymous`, which never has one.
    let signIn: SignIn?
}

extension Home {
    /// Shows on the board how the engine sees the backend.
    func refreshBoard() async {
        let look = board.beginLook()
        signIn?.found(await engine.lastRefusal)
        board.show(
            await engine.backendStatus, mode: await engine.mode, await engine.settings,
            generation: await engine.knownGeneration, look: look)
    }

    /// Takes a token of the identity; when it is another one than before, what waited for a sign-in
    /// goes on.
    /// - Parameter isFresh: the backend has just taken it. One that merely came with a request is
    ///   used only where there is none, or where the backend refuses the one there is.
    func signedIn(_ token: Token, isFresh: Bool) {
        guard let signIn else { return }
        let onlyIfMissing = !isFresh && !board.isSignedOut
        if signIn.take(token, onlyIfMissing: onlyIfMissing, isVouched: isFresh) {
            engine.nudge(.signedIn)
        }
    }
}
