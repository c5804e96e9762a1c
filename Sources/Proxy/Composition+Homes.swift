import HTTPMessage
import Logging
import SyncCore
import TablesProtocol

// Each identity's home: a store, an engine over it, and who hears of its events.
extension Composition {
    /// Opens the home of requests without a credential, and the index of the others.
    func makeHomes(
        _ transport: any HTTPTransport, key: ApplicationKey, signIns: RememberedSignIns?,
        workers: Int, feed: EventFeed, work: BackgroundWork
    ) async throws(StartProblem) -> Homes {
        let tokens = KnownTokens(
            file: configuration.folder.tokensFile, backend: configuration.backend,
            now: clock.now)
        let tokenLane = SlowLane(worker: 0)
        let nobody = try makeHome(
            Homes.anonymous, BackendBoard(), nil, nil, transport, key, workers: workers)
        try await prepare(nobody)
        watch(nobody, feed: feed, work: work)
        let index = try openIndex()
        let maker = Homes.Maker(
            resident: { identity in
                Resident(
                    board: BackendBoard(),
                    signIn: SignIn(
                        identity, signIns, lane: tokenLane, tokens: tokens, now: clock.now))
            },
            home: { identity, resident, memory throws(StartProblem) in
                try makeHome(
                    identity, resident.board, resident.signIn, memory, transport, key,
                    workers: workers)
            },
            opened: { watch($0, feed: feed, work: work) },
            prepare: { home throws(StartProblem) in try await prepare(home) })
        let homes = Homes(
            nobody: nobody, others: try known(to: index), index: index, tokens: tokens,
            tokenLane: tokenLane, work: work, graceSeconds: configuration.offlineGraceSeconds,
            clock: clock, maker: maker)
        if configuration.rebind { try await rebindAll(homes) }
        return homes
    }

    /// Binds every store to the backend, one after another: what is bound to another one must not wait for
    /// its user. A user's store for which that fails is left, and the log says which.
    private func rebindAll(_ homes: Homes) async throws(StartProblem) {
        try await rebind(homes.nobody)
        for identity in homes.identities.dropFirst() {
            do throws(StartProblem) {
                try await rebind(try await homes.open(identity))
            } catch {
                log.error(
                    "a store was not rebound; mend it and start with --rebind again",
                    metadata: ["identity": "\(identity)", "problem": "\(error)"])
            }
        }
    }

    private func openIndex() throws(StartProblem) -> StoreIndex {
        do {
            return try StoreIndex(at: try configuration.folder.indexFile())
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("The index of the stores cannot be opened: \(error)")
        }
    }

    /// The identities that have a store, and what the index says of each: nothing of one whose file is
    /// not as it was when it was closed.
    private func known(
        to index: StoreIndex
    ) throws(StartProblem) -> [String: OpenStores.Closed] {
        let entries: [String: StoreIndex.Entry]
        do { entries = try index.entries() } catch { throw StartProblem("\(error)") }
        var known: [String: OpenStores.Closed] = [:]
        for identity in configuration.folder.identities {
            let store = configuration.folder.storePath(identity.key)
            if let entry = entries[identity.key], entry.holds(of: store, file: Files.storeFile) {
                known[identity.key] = .known(entry)
            } else {
                known[identity.key] = .unexamined
            }
        }
        return known
    }

    private func prepare(_ home: Home) async throws(StartProblem) {
        for said in configuration.policies { try await set(said, in: home) }
    }

    private func makeHome(
        _ identity: String, _ board: BackendBoard, _ signIn: SignIn?, _ memory: EngineMemory?,
        _ transport: any HTTPTransport, _ key: ApplicationKey, workers: Int
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
        let engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(
                address: configuration.backend, generation: configuration.backendGeneration,
                applicationKey: configuration.applicationKey),
            settings: syncSettings, clock: clock, log: log, memory: memory,
            credential: { signIn?.credential ?? .none },
            refused: { credential in
                if case .token(let field) = credential { signIn?.refuse(Token(of: field)) }
            },
            applicationKey: { key.text })
        return Home(
            identity: identity, store: store, engine: engine, board: board, signIn: signIn)
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
