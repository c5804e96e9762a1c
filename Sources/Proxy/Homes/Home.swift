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
}

extension Home {
    /// Shows on the board how the engine sees the backend.
    func refreshBoard() async {
        board.show(
            await engine.backendStatus, mode: await engine.mode, await engine.settings)
    }
}
