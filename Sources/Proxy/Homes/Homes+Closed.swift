import SyncCore
import Synchronization
import TablesProtocol

// What is said of, and to, identities whose stores are closed.
extension Homes {
    /// All identities that have a store, `anonymous` first.
    var identities: [String] { [Self.anonymous] + stores.withLock { $0.identities } }

    /// Whether an identity has a store.
    func knows(_ identity: String) -> Bool {
        identity == Self.anonymous || stores.withLock { $0.knows(identity) }
    }

    /// What the closed stores hold together, and how many there are; those that were not looked at since
    /// the start are counted apart.
    var closedStores: (sum: StoreSummary, known: Int, unexamined: Int) {
        let closed = stores.withLock { $0.closed.values.map(\.self) }
        var sum = StoreSummary.empty
        var unexamined = 0
        for store in closed {
            switch store {
            case .known(let summary): sum.add(summary)
            case .unexamined: unexamined += 1
            }
        }
        return (sum, closed.count - unexamined, unexamined)
    }

    /// What a person should know of the closed stores.
    var warnings: [String] {
        let count = closedStores.unexamined
        if count == 0 { return [] }
        return [
            "\(count) store\(count == 1 ? " was" : "s were") not looked at since the start; the numbers "
                + "leave \(count == 1 ? "it" : "them") out."
        ]
    }

    /// Nudges the engines of all open stores.
    func nudge(_ cause: WakeCause) {
        nobody.engine.nudge(cause)
        for engine in stores.withLock({ $0.open.values.map(\.home.engine) }) { engine.nudge(cause) }
    }

    /// Changes the settings of every identity.
    func updateAll(
        _ change: @Sendable (SyncSettings) throws(Problem) -> SyncSettings
    ) async throws(Problem) {
        for home in all { await home.engine.update(try change(await home.engine.settings)) }
        try changeMemories { memory throws(Problem) in
            memory.update(try change(memory.settings), now: clock.uptime())
        }
    }

    /// Switches the backend off or on for every identity.
    func setModeOfAll(_ mode: EngineStatus.Mode) async {
        for home in all {
            await home.engine.setMode(mode)
            await home.refreshBoard()
        }
        var wait: Duration?
        if case .offline(let until?) = mode {
            wait = .milliseconds(max(until.milliseconds - clock.now().milliseconds, 0))
        }
        changeMemories { $0.setMode(mode, wait: wait, now: clock.uptime()) }
    }

    private func changeMemories<Failure: Error>(
        _ change: (inout EngineMemory) throws(Failure) -> Void
    ) throws(Failure) {
        for identity in residents.withLock({ Array($0.keys) }) {
            guard var memory = residents.withLock({ $0[identity]?.memory }) else { continue }
            try change(&memory)
            // One that was opened meanwhile has taken its memory along, and was changed as an open one
            // or is changed by the next call.
            residents.withLock { residents in
                if residents[identity]?.memory != nil { residents[identity]?.memory = memory }
            }
        }
    }
}
