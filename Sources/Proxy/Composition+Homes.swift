import HTTPMessage
import SyncCore
import TablesProtocol

// Each identity's home: a store, an engine over it, and who hears of its events.
extension Composition {
    /// Opens the homes of all who are known already.
    func makeHomes(
        _ transport: any HTTPTransport, key: ApplicationKey, signIns: RememberedSignIns?,
        workers: Int, slowLane: SlowLane, feed: EventFeed, work: BackgroundWork
    ) async throws(StartProblem) -> Homes {
        let tokens = KnownTokens(
            file: configuration.folder.tokensFile, backend: configuration.backend,
            now: clock.now)
        func home(_ identity: String) throws(StartProblem) -> Home {
            try makeHome(identity, transport, key, signIns, tokens, slowLane, workers: workers)
        }
        let nobody = try home(Homes.anonymous)
        var others: [Home] = []
        for identity in configuration.folder.identities {
            others.append(try home(identity.key))
        }
        for home in [nobody] + others {
            if configuration.rebind { try await rebind(home) }
            for said in configuration.policies { try await set(said, in: home) }
            watch(home, feed: feed, work: work)
        }
        return Homes(
            nobody: nobody, others: others, tokens: tokens, slowLane: slowLane,
            graceSeconds: configuration.offlineGraceSeconds, now: clock.now,
            build: { identity throws(StartProblem) in
                try makeHome(
                    identity.key, transport, key, signIns, tokens, slowLane, workers: workers)
            },
            opened: { home in
                watch(home, feed: feed, work: work)
                work.start { await home.engine.run() }
            })
    }

    private func makeHome(
        _ identity: String, _ transport: any HTTPTransport, _ key: ApplicationKey,
        _ signIns: RememberedSignIns?, _ tokens: KnownTokens, _ slowLane: SlowLane, workers: Int
    ) throws(StartProblem) -> Home {
        let store: Store
        do {
            store = try Store(
                at: try configuration.folder.storeFile(identity), identity: identity,
                clock: clock, ids: SystemIDSource(), workers: workers,
                tables: configuration.tables.map(Set.init),
                budgetBytes: configuration.diskBudgetBytes, strictSDK: configuration.strictSDK)
        } catch let error as StoreError {
            throw StartProblem(error.description)
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)")
        }
        let signIn =
            identity == Homes.anonymous
            ? nil : SignIn(identity, signIns, slowLane: slowLane, tokens: tokens)
        let engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(
                address: configuration.backend, generation: configuration.backendGeneration,
                applicationKey: configuration.applicationKey),
            settings: syncSettings, clock: clock, log: log,
            credential: { signIn?.credential ?? .none }, applicationKey: { key.text })
        return Home(
            identity: identity, store: store, engine: engine, board: BackendBoard(),
            signIn: signIn)
    }

    private func set(_ said: PolicySetting, in home: Home) async throws(StartProblem) {
        do {
            _ = try await home.store.updateTable(said.table, said.policies.apply)
        } catch {
            throw StartProblem("\(error)")
        }
    }

    private func rebind(_ home: Home) async throws(StartProblem) {
        do {
            try await home.engine.rebind()
        } catch {
            throw StartProblem("\(error)")
        }
    }

    /// Leads the store's events to the pages, and the engine's state to the answers of `/tables`.
    private func watch(_ home: Home, feed: EventFeed, work: BackgroundWork) {
        @Sendable func refresh() {
            work.start { await home.refreshBoard() }
        }
        home.store.onEvents { events in
            feed.publish(events)
            if events.contains(where: { $0.kind == .status || $0.kind == .run }) { refresh() }
        }
        refresh()
    }
}
