import SyncCore
import Synchronization
import TablesProtocol

// Opening and closing stores.
//
// A store that is in use is never closed: each ``Home`` that is handed out holds a ``StoreUse``, and an
// engine that has a run under way or about to begin does not retire. So there may be more than
// ``Limits/openStores`` for a while, at most ``Limits/openStoresInUse``; whoever comes then waits.
extension Homes {
    /// What a store is opened for.
    enum Purpose: Sendable {
        case request
        /// Work that is due, for which no store in use is joined by another.
        case due
    }

    /// The home of an identity whose store is open; nil where it is not.
    func home(_ identity: String, isLook: Bool = false) -> Home? {
        if identity == Self.anonymous { return nobody }
        return stores.withLock { $0.use(identity, isLook: isLook) }.map(inUse)
    }

    /// The homes whose stores are open, `anonymous` first. To look at them keeps them open no longer.
    var all: [Home] {
        let open = stores.withLock { $0.open.keys.sorted() }
        return [nobody] + open.compactMap { home($0, isLook: true) }
    }

    /// The home of an identity; its store is opened, or made, where it is not open.
    ///
    /// 1. One that is open is used.
    /// 2. Where as many are open as may stay open, the one that was not used for longest is closed first.
    /// 3. Where none is idle, another one is opened all the same, up to ``Limits/openStoresInUse``; work
    ///    that is due waits instead. Beyond that the caller waits, and is told to come again.
    /// - Throws: why the store cannot be opened, in a sentence for the answer.
    func open(
        _ identity: String, for purpose: Purpose = .request
    ) async throws(StartProblem) -> Home {
        if identity == Self.anonymous { return nobody }
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
            case .open(let home): return inUse(home)
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

    private func begin(_ identity: String) async throws(StartProblem) -> Home {
        let resident = resident(identity)
        let isNew = stores.withLock { $0.closed[identity] == nil }
        let beginning = await nobody.engine.beginning
        let opened = await lane.value { [maker] () -> Result<Home, StartProblem> in
            do throws(StartProblem) {
                return .success(try maker.home(identity, resident, resident.memory ?? beginning))
            } catch {
                return .failure(error)
            }
        }
        do throws(StartProblem) {
            let home = try opened.get()
            maker.opened(home)
            if isNew { await adoptPolicies(home) }
            if !resident.isPrepared {
                do throws(StartProblem) {
                    try await maker.prepare(home)
                } catch {
                    await lane.value { try? home.store.close() }
                    throw error
                }
            }
            await takeLeftPolicies(home)
            let loop = EngineLoop()
            await catchUp(home) { stores, heard in
                guard stores.opened(home, loop: loop, heard: heard) else { return false }
                residents.withLock { residents in
                    residents[identity]?.memory = nil
                    residents[identity]?.isPrepared = true
                }
                return true
            }
            if isRunning.load(ordering: .acquiring) { loop.start(home.engine) }
            return inUse(home)
        } catch {
            stores.withLock { $0.didFail(identity) }
            throw error
        }
    }

    /// Lets a home's engine take in what was said to all identities, again while more comes.
    /// - Parameter done: carries the home's next state out under the lock, given the number that the engine
    ///   has taken in; false where that is not the last.
    private func catchUp(
        _ home: Home, _ done: (inout OpenStores, Int) -> Bool
    ) async {
        while true {
            let all = stores.withLock { $0.forAll }
            if await home.engine.take(all) { await home.refreshBoard() }
            if stores.withLock({ done(&$0, all.number) }) { return }
        }
    }

    /// A home with a use that was counted.
    private func inUse(_ home: Home) -> Home {
        if home.identity == Self.anonymous { return home }
        var home = home
        let identity = home.identity
        home.use = StoreUse { [weak self] in
            guard let self, stores.withLock({ $0.endUse(identity) }) else { return }
            work.start { await self.trim() }
        }
        return home
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
        let home = slot.home
        guard var memory = await home.engine.retire(isAsked: !slot.loop.isRunning) else {
            await catchUp(home) { $0.stayOpen(identity, heard: $1) }
            return false
        }
        await slot.loop.end()
        let entry = await lane.value { [self] in putAway(home.store, slot.entry) }
        guard let entry else {
            await home.engine.resume()
            await catchUp(home) { $0.stayOpen(identity, heard: $1) }
            if isRunning.load(ordering: .acquiring) { slot.loop.restart(home.engine) }
            return false
        }
        stores.withLock { stores in
            memory.take(stores.forAll, now: clock.uptime())
            residents.withLock { $0[identity]?.memory = memory }
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
    func putAway(
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

extension SlowLane {
    /// Runs `body` in its turn, and returns what it gives.
    func value<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: body()) }
        }
    }
}
