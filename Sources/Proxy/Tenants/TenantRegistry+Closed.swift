import SyncCore
import Synchronization
import TablesProtocol

// The identities whose stores are closed, and changes of settings for all identities.
extension TenantRegistry {
    /// All identities that have a store, `anonymous` first.
    var identities: [String] { [Identity.anonymousKey] + stores.withLock { $0.identities } }

    /// Whether an identity has a store.
    func knows(_ identity: String) -> Bool {
        identity == Identity.anonymousKey || stores.withLock { $0.knows(identity) }
    }

    /// The totals of the closed stores.
    var closedStores: ClosedTotal { stores.withLock { $0 }.closedTotal }

    /// Warnings for the operator about the closed stores.
    var warnings: [String] { closedStores.warnings }

    /// Nudges the engines of all open stores.
    func nudge(_ cause: WakeCause) {
        anonymous.engine.nudge(cause)
        for engine in stores.withLock({ $0.open.values.map(\.tenant.engine) }) {
            engine.nudge(cause)
        }
    }

    /// Changes the settings of every identity.
    /// - Parameter change: makes the new settings from the old ones. It throws for an invalid change,
    ///   whatever the old settings are.
    func updateAll(
        _ change: @escaping @Sendable (SyncSettings) throws(Problem) -> SyncSettings
    ) async throws(Problem) {
        _ = try change(await anonymous.engine.settings)
        await applyToAll(.settings { settings in (try? change(settings)) ?? settings })
    }

    /// Sets online or offline mode for every identity.
    func setModeOfAll(_ mode: EngineStatus.Mode) async {
        var end: Duration?
        if case .offline(let until?) = mode {
            let wait = until.milliseconds - clock.now().milliseconds
            end = clock.uptime() + .milliseconds(max(wait, 0))
        }
        await applyToAll(.mode(mode, until: end))
    }

    /// Applies a change to every identity. Under one lock the change gets its number and is added to the
    /// memory of the closed stores. Then the engines of the open stores apply it. An engine whose store is
    /// being opened or closed applies it before the store counts as open or closed.
    private func applyToAll(_ change: SettingsForAll.Change) async {
        let now = clock.uptime()
        let all = stores.withLock { stores in
            stores.settingsForAll.add(change)
            tenantStates.withLock { tenantStates in
                for identity in tenantStates.keys {
                    tenantStates[identity]?.memory?.apply(stores.settingsForAll, now: now)
                }
            }
            return stores.settingsForAll
        }
        for tenant in self.all {
            await tenant.engine.apply(all)
            await tenant.refreshBackendStatus()
        }
    }
}
