import HTTPMessage
import Logging
import SyncCore
import TablesProtocol

// Each identity's tenant: a store, an engine over it, and where its events go.
extension AppGraphBuilder {
    /// Opens the tenant of requests without a credential, and the index of the others.
    func makeTenants(
        _ transport: any HTTPTransport, key: ApplicationKey, signIns: RememberedSignIns?,
        workers: Int, feed: EventFeed, work: BackgroundWork
    ) async throws(StartProblem) -> TenantRegistry {
        let tokens = KnownTokens(
            file: configuration.folder.tokensFile, backend: configuration.backend,
            now: clock.now)
        let tokenExecutor = BlockingExecutor(worker: 0)
        let anonymous = try makeTenant(
            Identity.anonymousKey, BackendStatusCache(), nil, nil, transport, key, workers: workers)
        try await prepare(anonymous)
        watch(anonymous, feed: feed, work: work)
        let index = try openIndex()
        let factory = TenantRegistry.Factory(
            tenantState: { identity in
                TenantState(
                    backendStatus: BackendStatusCache(),
                    signIn: SignIn(
                        identity, signIns, executor: tokenExecutor, known: tokens, now: clock.now))
            },
            tenant: { identity, tenantState, memory throws(StartProblem) in
                try makeTenant(
                    identity, tenantState.backendStatus, tenantState.signIn, memory, transport, key,
                    workers: workers)
            },
            opened: { watch($0, feed: feed, work: work) },
            prepare: { tenant throws(StartProblem) in try await prepare(tenant) })
        let tenants = TenantRegistry(
            anonymous: anonymous, others: try known(to: index), index: index, tokens: tokens,
            tokenExecutor: tokenExecutor, work: work,
            graceSeconds: configuration.offlineGraceSeconds,
            clock: clock, factory: factory)
        if configuration.rebind { try await rebindAll(tenants) }
        return tenants
    }

    /// Binds every store to the backend, one after another: what is bound to another one must not wait for
    /// its user. A user's store for which that fails is left, and the log says which.
    private func rebindAll(_ tenants: TenantRegistry) async throws(StartProblem) {
        try await rebind(tenants.anonymous)
        for identity in tenants.identities.dropFirst() {
            do throws(StartProblem) {
                try await rebind(try await tenants.open(identity))
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

    private func prepare(_ tenant: Tenant) async throws(StartProblem) {
        for said in configuration.policies { try await set(said, in: tenant) }
    }

    private func makeTenant(
        _ identity: String, _ backendStatus: BackendStatusCache, _ signIn: SignIn?,
        _ memory: EngineMemory?,
        _ transport: any HTTPTransport, _ key: ApplicationKey, workers: Int
    ) throws(StartProblem) -> Tenant {
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
            settings: configuration.syncSettings, clock: clock, log: log, memory: memory,
            credential: { signIn?.credential ?? .none },
            refused: { credential in
                if case .token(let field) = credential { signIn?.refuse(Token(of: field)) }
            },
            applicationKey: { key.text })
        return Tenant(
            identity: identity, store: store, engine: engine, backendStatus: backendStatus,
            signIn: signIn)
    }

    private func set(_ said: PolicySetting, in tenant: Tenant) async throws(StartProblem) {
        do {
            _ = try await tenant.store.updateTable(said.table, said.policies.apply)
        } catch {
            throw StartProblem("\(error)")
        }
    }

    private func rebind(_ tenant: Tenant) async throws(StartProblem) {
        do {
            try await tenant.engine.rebind()
        } catch {
            throw StartProblem("\(error)")
        }
    }

    /// Leads the store's events to the pages, and the engine's state to the answers of `/tables`.
    private func watch(_ tenant: Tenant, feed: EventFeed, work: BackgroundWork) {
        @Sendable func refresh() {
            work.start { await tenant.refreshBackendStatus() }
        }
        tenant.store.onEvents { events in
            feed.publish(events)
            if events.contains(where: { $0.kind == .status || $0.kind == .run }) { refresh() }
        }
        refresh()
    }
}
