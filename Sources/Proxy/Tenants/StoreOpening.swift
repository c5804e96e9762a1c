import Platform
import SyncCore
import Synchronization
import TablesProtocol

// Opening and closing stores.
//
// A store in use is never closed: each returned ``Tenant`` has a ``StoreLease``, and an engine with a run
// that is running or about to begin does not retire. So more than ``Limits/openStores`` may be open for a
// while, at most ``Limits/openStoresInUse``. Further requests wait.
extension TenantRegistry {
    /// The purpose for which a store is opened.
    enum Purpose: Sendable {
        case request
        /// Due work. For it no more than ``Limits/openStores`` are opened.
        case due
    }

    /// The tenant of an identity; nil if its store is not open.
    func tenant(_ identity: String, isInspection: Bool = false) -> Tenant? {
        if identity == Identity.anonymousKey { return anonymous }
        return stores.withLock { $0.use(identity, isInspection: isInspection) }.map(inUse)
    }

    /// The tenants whose stores are open, `anonymous` first. They do not become more recently used.
    var all: [Tenant] {
        let open = stores.withLock { $0.open.keys.sorted() }
        return [anonymous] + open.compactMap { tenant($0, isInspection: true) }
    }

    /// Every store once: the open ones, `anonymous` first, and the totals of the closed ones. One that is
    /// being closed counts as soon as that has ended. The open ones do not become more recently used.
    func census() async -> (open: [Tenant], closed: ClosedTotal) {
        var census = stores.withLock { $0.census() }
        var open = [anonymous] + census.open.map(inUse)
        var closed = census.closed
        while !census.closing.isEmpty, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(Limits.storePollMilliseconds))
            census = stores.withLock { [closing = census.closing] in $0.census(of: closing) }
            open += census.open.map(inUse)
            closed.add(census.closed)
        }
        return (open, closed)
    }

    /// The tenant of an identity. Its store is opened, or made, if it is not open.
    ///
    /// 1. If ``Limits/openStores`` are open, the least recently used idle store is closed first.
    /// 2. If none is idle, up to ``Limits/openStoresInUse`` are opened for requests. Due work waits instead.
    /// 3. Beyond that limit the caller waits, at most ``Limits/storeWaitSeconds``.
    /// - Throws: ``StartProblem`` with the reason in a sentence for the answer.
    func open(
        _ identity: String, for purpose: Purpose = .request
    ) async throws(StartProblem) -> Tenant {
        if identity == Identity.anonymousKey { return anonymous }
        let deadline = clock.uptime() + .seconds(Limits.storeWaitSeconds)
        let bound =
            switch purpose {
            case .request: Limits.openStoresInUse
            case .due: Limits.openStores
            }
        var hasTried = false
        while true {
            let claim = stores.withLock { [hasTried] in
                $0.claim(identity, bound: bound, hasTried: hasTried)
            }
            switch claim {
            case .open(let tenant): return inUse(tenant)
            case .begin: return try await begin(identity)
            case .makeRoom: hasTried = await !closeOne(reservesOne: true)
            case .wait:
                guard clock.uptime() < deadline, !Task.isCancelled else {
                    throw StartProblem("Too many stores are in use; come again in a moment.")
                }
                try? await Task.sleep(for: .milliseconds(Limits.storePollMilliseconds))
                hasTried = false
            }
        }
    }

    private func begin(_ identity: String) async throws(StartProblem) -> Tenant {
        let tenantState = tenantState(identity)
        let isNew = stores.withLock { $0.closed[identity] == nil }
        let beginning = await anonymous.engine.initialMemory
        let opened = await executor.value { [factory] () -> Result<Tenant, StartProblem> in
            do throws(StartProblem) {
                return .success(
                    try factory.tenant(identity, tenantState, tenantState.memory ?? beginning))
            } catch {
                return .failure(error)
            }
        }
        do throws(StartProblem) {
            let tenant = try opened.get()
            factory.opened(tenant)
            if isNew { await adoptPolicies(tenant) }
            if !tenantState.isPrepared {
                do throws(StartProblem) {
                    try await factory.prepare(tenant)
                } catch {
                    await executor.value { try? tenant.store.close() }
                    throw error
                }
            }
            await applyMissedPolicies(tenant)
            let loop = EngineLoop()
            await catchUp(tenant) { stores, appliedNumber in
                guard stores.opened(tenant, loop: loop, appliedNumber: appliedNumber) else {
                    return false
                }
                tenantStates.withLock { tenantStates in
                    tenantStates[identity]?.memory = nil
                    tenantStates[identity]?.isPrepared = true
                }
                return true
            }
            if isRunning.load(ordering: .acquiring) { loop.start(tenant.engine) }
            return inUse(tenant)
        } catch {
            stores.withLock { $0.didFail(identity) }
            throw error
        }
    }

    /// Applies the settings for all identities to a tenant's engine, again if newer ones were set meanwhile.
    /// - Parameter done: records the tenant's next state under the lock. It gets the number that the engine
    ///   has applied, and returns false if that is not the newest.
    private func catchUp(
        _ tenant: Tenant, _ done: (inout OpenStores, Int) -> Bool
    ) async {
        while true {
            let all = stores.withLock { $0.settingsForAll }
            if await tenant.engine.apply(all) { await tenant.refreshBackendStatus() }
            if stores.withLock({ done(&$0, all.number) }) { return }
        }
    }

    private func inUse(_ tenant: Tenant) -> Tenant {
        if tenant.identity == Identity.anonymousKey { return tenant }
        var tenant = tenant
        let identity = tenant.identity
        tenant.lease = StoreLease { [weak self] in
            guard let self, stores.withLock({ $0.endUse(identity) }) else { return }
            work.start { await self.trim() }
        }
        return tenant
    }

    /// Closes idle stores while more than ``Limits/openStores`` are open.
    func trim() async {
        guard !isTrimming.exchange(true, ordering: .acquiringAndReleasing) else { return }
        while await closeOne(reservesOne: false) {}
        isTrimming.store(false, ordering: .releasing)
    }

    /// Closes the least recently used idle store.
    /// - Returns: false if none could be closed.
    func closeOne(reservesOne: Bool) async -> Bool {
        let idle = stores.withLock { $0.idle(reservesOne: reservesOne) }
        for identity in idle {
            if await close(identity) { return true }
        }
        return false
    }

    /// Closes an idle store: its engine retires, its summary is written to the index, and its files are
    /// closed.
    /// - Returns: false if it stays open: it is in use, or the index cannot be written.
    private func close(_ identity: String) async -> Bool {
        guard let slot = stores.withLock({ $0.beginClosing(identity) }) else { return false }
        let tenant = slot.tenant
        guard var memory = await tenant.engine.retire(isForced: !slot.loop.isRunning) else {
            await catchUp(tenant) { $0.stayOpen(identity, appliedNumber: $1) }
            return false
        }
        await slot.loop.end()
        let entry = await executor.value { [self] in indexAndClose(tenant.store, slot.entry) }
        guard let entry else {
            await tenant.engine.resume()
            await catchUp(tenant) { $0.stayOpen(identity, appliedNumber: $1) }
            if isRunning.load(ordering: .acquiring) { slot.loop.restart(tenant.engine) }
            return false
        }
        endedRequestTimes.withLock { $0.add(tenant.engine.requestTimes) }
        stores.withLock { stores in
            memory.apply(stores.settingsForAll, now: clock.uptime())
            tenantStates.withLock { $0[identity]?.memory = memory }
            stores.didClose(identity, .known(entry))
        }
        return true
    }

    /// Writes the entry of a store to the index, and closes the store; blocks:
    ///
    /// 1. If the summary has changed, the index gets an entry without a file, which no start trusts.
    /// 2. The store is closed.
    /// 3. The entry gets the file as it is now.
    /// - Parameters:
    ///   - entry: the entry in the index; nil if there is none.
    ///   - fileState: the inode, size and time of change of the file at a path.
    /// - Returns: nil if step 1 fails. Then the store stays open, since a later start would trust the old
    ///   entry.
    func indexAndClose(
        _ store: Store, _ entry: StoreIndex.Entry?,
        fileState: (String) -> StoreFile? = StoreFile.init(path:)
    ) -> StoreIndex.Entry? {
        do throws(StoreError) {
            var written = StoreIndex.Entry(summary: try store.summary(), file: nil)
            if let entry, entry.summary == written.summary {
                written = entry
            } else {
                try index.put(written, of: store.identity)
            }
            // If this fails, the files are closed with the last reference to the store, and may change then.
            let isClosed = (try? store.close()) != nil
            var named = written
            named.file = isClosed ? fileState(store.path) : nil
            // If the entry cannot be written, the next start reads the store.
            guard named != written, (try? index.put(named, of: store.identity)) != nil else {
                return written
            }
            return named
        } catch {
            return nil
        }
    }
}

extension BlockingExecutor {
    /// Runs `body` after all earlier ones, and returns its result.
    func value<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: body()) }
        }
    }
}

// The identities whose stores are closed, and changes of settings for all identities.
extension TenantRegistry {
    /// All identities that have a store, `anonymous` first.
    var identities: [String] { [Identity.anonymousKey] + stores.withLock { $0.identities } }

    func knows(_ identity: String) -> Bool {
        identity == Identity.anonymousKey || stores.withLock { $0.knows(identity) }
    }

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
