import SyncCore
import TablesProtocol

// Inserts without a token into a table that nobody has pulled without one: whether the backend takes
// them is not known, nor whether it assigns the ids. An insert that it would answer with 401 waits
// for ever here, since nothing of nobody's is sent under a name, and its client never learns that it
// has to sign in.
extension TablesRoutes {
    /// Whether the backend has to be asked before an insert, or would be if it were in reach.
    func mayNeedSignIn(_ scene: Scene) -> Bool {
        let board = scene.home.board
        guard case .insert = scene.call.verb, scene.home.signIn == nil else { return false }
        switch board.needsSignIn(scene.call.table) {
        case false: return false
        case nil: guard board.mayPullForRead else { return false }
        case true: break
        }
        let table = scene.home.store.table(scene.call.table, worker: scene.worker)
        return table?.isComplete != true
    }

    /// Whether the table wants a sign-in.
    ///
    /// 1. The backend is asked for a list without a token; the client waits suspended. One that is,
    ///    or may be, of the first generation is pulled from: its ids may be integers, which a client
    ///    must not be given as strings.
    /// 2. Where it is away or takes its time, what it said before counts.
    /// 3. Where it never said anything, the insert is taken: it may be all right.
    func needsSignIn(_ scene: Scene) async -> Bool {
        let (table, board) = (scene.call.table, scene.home.board)
        var said: Bool?
        if board.mayPullForRead {
            said = await withTaskGroup(of: Bool?.self) { group in
                group.addTask {
                    let generation = homes.backendGeneration
                    if scene.call.generation == .mobileServices,
                        generation == nil || generation == .mobileServices
                    {
                        return await scene.home.engine.pull(table, isAsked: false).state == .signIn
                    }
                    return await voucher.needsSignIn(
                        table, client: scene.call.generation, backend: generation)
                }
                group.addTask {
                    try? await Task.sleep(for: .seconds(Limits.backendWaitSeconds))
                    return nil
                }
                defer { group.cancelAll() }
                return await group.next() ?? nil
            }
        }
        if let said { board.note(table, needsSignIn: said) }
        return board.needsSignIn(table) ?? false
    }
}
