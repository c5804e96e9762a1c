import SyncCore
import Synchronization
import TablesProtocol

// Opening and closing stores.
//
// A store that is in use is never closed: each ``Tenant`` that is handed out holds a ``StoreLease``, and
// an engine that has a run under way or about to begin does not retire. So there may be more than
// ``Limits/openStores`` for a while, at most ``Limits/openStoresInUse``; a request that comes then
// waits.
extension TenantRegistry {
    /// What a store is opened for.
    enum Purpose: Sendable {
        case request
        /// Work that is due, for which no store in use is joined by another.
        case due
    }

    /// The tenant of an identity whose store is open; nil where it is not.
    func tenant(_ identity: String, isLook: Bool = false) -> Tenant? {
        if identity == Identity.anonymousKey { return anonymous }
        return stores.withLock { $0.use(identity, isLook: isLook) }.map(inUse)
    }

    /// The tenants whose stores are open, `anonymous` first. To look at them keeps them open no longer.
    var all: [Tenant] {
        let open = stores.withLock { $0.open.keys.sorted() }
        return [anonymous] + open.compactMap { tenant($0, isLook: true) }
    }

    /// The tenant of an identity; its store is opened, or made, where it is not open.
    ///
    /// 1. One that is open is used.
    /// 2. Where as many are open as may stay open, the one that was not used for longest is closed first.
    /// 3. Where none is idle, another one is opened all the same, up to ``Limits/openStoresInUse``; work
    ///    that is due waits instead. Beyond that the caller waits, and is told to come again.
    /// - Throws: why the store cannot be opened, in a sentence for the answer.
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
            case .makeRoom: hasTried = await !closeOne(isOneComing: true)
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
        let beginning = await anonymous.engine.beginning
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
            await takeLeftPolicies(tenant)
            let loop = EngineLoop()
            await catchUp(tenant) { stores, heard in
                guard stores.opened(tenant, loop: loop, heard: heard) else { return false }
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

    /// Lets a tenant's engine take in what was said to all identities, again while more comes.
    /// - Parameter done: carries the tenant's next state out under the lock, given the number that the engine
    ///   has taken in; false where that is not the last.
    private func catchUp(
        _ tenant: Tenant, _ done: (inout OpenStores, Int) -> Bool
    ) async {
        while true {
            let all = stores.withLock { $0.forAll }
            if await tenant.engine.take(all) { await tenant.refreshBackendStatus() }
            if stores.withLock({ done(&$0, all.number) }) { return }
        }
    }

    /// A tenant with a use that was counted.
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

    /// Closes what may be closed, as long as too many stores are open.
    func trim() async {
        guard !isTrimming.exchange(true, ordering: .acquiringAndReleasing) else { return }
        while await closeOne(isOneComing: false) {}
        isTrimming.store(false, ordering: .releasing)
    }

    /// Closes the store that was not used for longest, of those that nothing uses.
    /// - Returns: false where none could be closed.
    func closeOne(isOneComing: Bool) async -> Bool {
        let idle = stores.withLock { $0.idle(isOneComing: isOneComing) }
        for identity in idle {
            if await close(identity) { return true }
        }
        return false
    }

    /// Closes a store that nothing uses: its engine retires, its files are closed, and what must be known of
    /// it is in the index.
    /// - Returns: false where it stays open: it is in use, or the index cannot be written.
    private func close(_ identity: String) async -> Bool {
        guard let slot = stores.withLock({ $0.beginClosing(identity) }) else { return false }
        let tenant = slot.tenant
        guard var memory = await tenant.engine.retire(isAsked: !slot.loop.isRunning) else {
            await catchUp(tenant) { $0.stayOpen(identity, heard: $1) }
            return false
        }
        await slot.loop.end()
        let entry = await executor.value { [self] in indexAndClose(tenant.store, slot.entry) }
        guard let entry else {
            await tenant.engine.resume()
            await catchUp(tenant) { $0.stayOpen(identity, heard: $1) }
            if isRunning.load(ordering: .acquiring) { slot.loop.restart(tenant.engine) }
            return false
        }
        stores.withLock { stores in
            memory.take(stores.forAll, now: clock.uptime())
            tenantStates.withLock { $0[identity]?.memory = memory }
            stores.didClose(identity, .known(entry))
        }
        return true
    }

    /// Writes into the index what must be known of a store, and closes it; blocks:
    ///
    /// 1. Where the index says something else, it gets an entry without a file, which no start trusts.
    /// 2. The store is closed.
    /// 3. The entry names the file as it is now.
    /// - Parameters:
    ///   - entry: what the index says of it.
    ///   - look: what the system says of the file at a path.
    /// - Returns: nil where the first step fails: then the store stays open, since a later start would
    ///   trust what the index says.
    func indexAndClose(
        _ store: Store, _ entry: StoreIndex.Entry?,
        look: (String) -> StoreFile? = Files.storeFile
    ) -> StoreIndex.Entry? {
        do throws(StoreError) {
            var written = StoreIndex.Entry(summary: try store.summary(), file: nil)
            if let entry, entry.summary == written.summary {
                written = entry
            } else {
                try index.put(written, of: store.identity)
            }
            // What is not closed by it is closed with the last reference to the store; its file may
            // change then.
            let isClosed = (try? store.close()) != nil
            var named = written
            named.file = isClosed ? look(store.path) : nil
            // Where it cannot be written, the next start looks at the store.
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
    /// Runs `body` in its turn, and returns what it gives.
    func value<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: body()) }
        }
    }
}
