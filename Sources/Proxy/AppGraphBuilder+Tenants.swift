import HTTPMessage
import Logging
import SyncCore
import TablesProtocol

// The tenants: each has a store and an engine, and sends its events to the feed.
extension AppGraphBuilder {
    /// Makes the registry: opens the anonymous tenant and the index of the other stores.
    func makeTenants(
        _ transport: any HTTPTransport, key: ApplicationKey, signIns: RememberedSignIns?,
        workers: Int, feed: EventFeed, work: BackgroundWork
    ) async throws(StartProblem) -> TenantRegistry {
        let tokens = KnownTokens(
            file: configuration.folder.tokensFile, backend: configuration.backend,
            now: clock.now)
        let owners = try openOwners(tokens, signIns)
        let tokenExecutor = BlockingExecutor(worker: 0)
        let anonymous = try makeTenant(
            Identity.anonymousKey, BackendStatusCache(), nil, nil, transport, key, workers: workers)
        try await prepare(anonymous)
        forwardEvents(of: anonymous, to: feed, work: work)
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
            opened: { forwardEvents(of: $0, to: feed, work: work) },
            prepare: { tenant throws(StartProblem) in try await prepare(tenant) })
        let tenants = TenantRegistry(
            anonymous: anonymous, others: try closedStores(by: index), index: index, tokens: tokens,
            owners: owners, tokenExecutor: tokenExecutor, work: work,
            graceSeconds: configuration.offlineGraceSeconds,
            clock: clock, factory: factory)
        if configuration.rebind { try await rebindAll(tenants) }
        return tenants
    }

    /// Reads which user has which store, and takes the operator's word. The user who had such a store loses
    /// it: the tokens that were known for it are forgotten, the remembered one too.
    private func openOwners(
        _ tokens: KnownTokens, _ signIns: RememberedSignIns?
    ) throws(StartProblem) -> StoreOwners {
        let folder = configuration.folder
        let owners = try StoreOwners(file: folder.ownersFile, backend: configuration.backend)
        let replaced = Set(configuration.takeovers.map(\.user))
        for word in configuration.takeovers {
            guard folder.identities.contains(where: { $0.key == word.store }),
                !replaced.contains(word.store)
            else {
                throw StartProblem(
                    "--identity names the store \(word.store), and there is none. `understudy "
                        + "identities` lists those that there are.")
            }
            let isIdentity = folder.hasHadStore(word.user) || owners.has(word.user)
            guard try owners.take(word, isIdentity: isIdentity) else { continue }
            tokens.forget(Identity(key: word.store))
            if let signIns {
                signIns.set(nil, of: word.store)
            } else {
                // The file cannot be opened, and may have the store's token.
                Files.remove(folder.signInsFile)
            }
        }
        // All words are accepted. On disk stores are put aside and tokens are forgotten before the words are
        // saved: after a crash in between the same start can be repeated, and a user's next sign-in begins a new
        // store of the backend's rows.
        for word in configuration.takeovers { try folder.putAside(word.user) }
        do { try tokens.save() } catch { throw StartProblem("\(error)") }
        signIns?.save()
        try save(owners)
        return owners
    }

    private func save(_ owners: StoreOwners) throws(StartProblem) {
        do { try owners.save() } catch { throw StartProblem("\(error)") }
    }

    /// Binds every store to the backend, one after another, without a request of its user. If that fails
    /// for a user's store, the log names it and the others are bound.
    private func rebindAll(_ tenants: TenantRegistry) async throws(StartProblem) {
        let signedIn = tenants.tokens.owners
        tenants.owners.wait(for: tenants.identities.dropFirst().filter { !signedIn.contains($0) })
        try save(tenants.owners)
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

    /// The closed stores by identity. A store is unexamined when the index has no entry for it, or when its
    /// file has changed since the entry was made.
    private func closedStores(
        by index: StoreIndex
    ) throws(StartProblem) -> [String: OpenStores.Closed] {
        let entries: [String: StoreIndex.Entry]
        do { entries = try index.entries() } catch { throw StartProblem("\(error)") }
        var stores: [String: OpenStores.Closed] = [:]
        for identity in configuration.folder.identities {
            let store = configuration.folder.storePath(identity.key)
            if let entry = entries[identity.key], entry.holds(of: store, file: Files.storeFile) {
                stores[identity.key] = .known(entry)
            } else {
                stores[identity.key] = .unexamined
            }
        }
        return stores
    }

    private func prepare(_ tenant: Tenant) async throws(StartProblem) {
        for policy in configuration.policies { try await apply(policy, to: tenant) }
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
                tables: configuration.tables.map(Set.init), parts: configuration.parts,
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

    private func apply(_ setting: PolicySetting, to tenant: Tenant) async throws(StartProblem) {
        do {
            _ = try await tenant.store.updateTable(setting.table, setting.policies.apply)
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

    /// Sends the store's events to the feed, and refreshes the cached backend state when it may have changed.
    private func forwardEvents(of tenant: Tenant, to feed: EventFeed, work: BackgroundWork) {
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
