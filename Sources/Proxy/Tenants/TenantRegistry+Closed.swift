import SyncCore
import Synchronization
import TablesProtocol

// What is said of, and to, identities whose stores are closed.
extension TenantRegistry {
    /// All identities that have a store, `anonymous` first.
    var identities: [String] { [Identity.anonymousKey] + stores.withLock { $0.identities } }

    /// Whether an identity has a store.
    func knows(_ identity: String) -> Bool {
        identity == Identity.anonymousKey || stores.withLock { $0.knows(identity) }
    }

    /// What the closed stores hold together, and how many there are.
    var closedStores: ClosedTotal { stores.withLock { $0 }.closedTotal }

    /// What a person should know of the closed stores.
    var warnings: [String] { closedStores.warnings }

    /// Nudges the engines of all open stores.
    func nudge(_ cause: WakeCause) {
        anonymous.engine.nudge(cause)
        for engine in stores.withLock({ $0.open.values.map(\.tenant.engine) }) {
            engine.nudge(cause)
        }
    }

    /// Changes the settings of every identity, each its own.
    /// - Parameter change: refuses what is wrong of itself, whatever the settings are before.
    func updateAll(
        _ change: @escaping @Sendable (SyncSettings) throws(Problem) -> SyncSettings
    ) async throws(Problem) {
        _ = try change(await anonymous.engine.settings)
        await applyToAll(.settings { settings in (try? change(settings)) ?? settings })
    }

    /// Switches the backend off or on for every identity.
    func setModeOfAll(_ mode: EngineStatus.Mode) async {
        var end: Duration?
        if case .offline(let until?) = mode {
            let wait = until.milliseconds - clock.now().milliseconds
            end = clock.uptime() + .milliseconds(max(wait, 0))
        }
        await applyToAll(.mode(mode, until: end))
    }

    /// Tells every identity. Under one lock the change gets its number and goes into what is kept of the
    /// closed stores. The engines of the open ones take it in then; one that is being opened or closed
    /// takes it in before it counts as open or closed.
    private func applyToAll(_ change: SettingsForAll.Change) async {
        let now = clock.uptime()
        let all = stores.withLock { stores in
            stores.forAll.add(change)
            tenantStates.withLock { tenantStates in
                for identity in tenantStates.keys {
                    tenantStates[identity]?.memory?.take(stores.forAll, now: now)
                }
            }
            return stores.forAll
        }
        for tenant in self.all {
            await tenant.engine.take(all)
            await tenant.refreshBackendStatus()
        }
    }
}
