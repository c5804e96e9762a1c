package import HTTPMessage
package import Logging
package import Platform
import SyncCore
import TablesProtocol

/// Builds an ``AppGraph``: stores, engines, guard, routes.
package struct AppGraphBuilder {
    package struct Transports: Sendable {
        let syncing: any HTTPTransport
        let passing: any HTTPTransport
        let signingIn: any HTTPTransport
        let following: (any HTTPTransport)?
        let notifying: any HTTPTransport

        /// - Parameters:
        ///   - syncing: for the engines.
        ///   - passing: for requests that are passed through, so that slow ones do not delay syncing; nil for
        ///     `syncing`.
        ///   - signingIn: for logins and for the verification of tokens, so that requests that are passed
        ///     through do not delay them; nil for `syncing`.
        ///   - following: for the backend's stream of changes, which holds a connection; nil to follow none.
        ///   - notifying: for a webhook, which is another server than the backend; nil for `syncing`.
        package init(
            syncing: any HTTPTransport, passing: (any HTTPTransport)? = nil,
            signingIn: (any HTTPTransport)? = nil, following: (any HTTPTransport)? = nil,
            notifying: (any HTTPTransport)? = nil
        ) {
            self.syncing = syncing
            self.following = following
            self.passing = passing ?? syncing
            self.signingIn = signingIn ?? syncing
            self.notifying = notifying ?? syncing
        }
    }

    let configuration: ProxyConfiguration
    let log: Logger
    let clock = SystemClock()
    /// What the operator API says of the process.
    package var processReport = ProcessReport.none

    package init(_ configuration: ProxyConfiguration, log: Logger) {
        self.configuration = configuration
        self.log = log
    }

    /// Builds everything.
    /// - Parameters:
    ///   - workers: the number of threads that will call the routes, each with a reader of its own. The
    ///     readers of other threads have the numbers after theirs.
    /// - Throws: ``StartProblem`` with the reason in one sentence.
    package func build(
        _ transports: Transports, workers: Int
    ) async throws(StartProblem) -> AppGraph {
        configuration.folder.forgetSignIns()
        let blockingExecutor = BlockingExecutor(worker: workers)
        let longReaders = workers + 1..<workers + 1 + Limits.longReadsAtOnce
        let operatorReaders =
            longReaders.upperBound..<longReaders.upperBound + Limits.operatorReadsAtOnce
        let work = BackgroundWork()
        let feed = EventFeed()
        let changes = ClientChanges()
        let applicationKey = ApplicationKey(configured: configuration.applicationKey)
        let tenants = try await makeTenants(
            transports, key: applicationKey, workers: operatorReaders.upperBound, feed: feed,
            changes: changes, work: work)
        let access = try makeAccess()
        let capabilities = makeCapabilities()
        let rejections = RejectionLog(now: clock.now)
        let refusedWrites = RefusedWrites(log: log, now: clock.now)
        let backups = AutomaticBackups(
            of: configuration.folder, plan: configuration.backups, now: clock.now,
            sleep: { [clock] in await clock.sleep(until: clock.uptime() + .seconds($0)) }, log: log)
        let gate = Guard(
            rules: configuration.rules, access: access, capabilities: capabilities,
            dashboardPort: configuration.dashboardPort)
        let notifier = makeNotifier(transports.notifying, tenants, rules: gate.currentRules)
        let status = StatusRoutes(
            tenants: tenants, rejections: rejections, rules: gate.currentRules,
            loginUsers: LoginUsers.count, folder: configuration.folder, process: processReport,
            startedAt: clock.now(), now: clock.now)
        let clientRequests = ClientRequestTimes()
        let exports = ListExport(access: access, work: work)
        let operatorAPI = OperatorAPI(
            status, clientRequests, work: work,
            routes: DashboardRoutes().routes
                + HealthRoutes(
                    tenants: tenants,
                    readiness: Readiness(now: clock.now) { await tenants.proveWritable() },
                    clientRequests: clientRequests, rejections: rejections,
                    refusedWrites: refusedWrites, backups: backups, folder: configuration.folder,
                    now: clock.now
                ).routes
                + AccessRoutes(
                    tenants: tenants, access: access, capabilities: capabilities,
                    rules: gate.currentRules, feed: feed
                ).routes
                + status.routes + BackupRoutes(backups: backups).routes
                + NotifyRoutes(notifier: notifier).routes
                + EventRoutes(tenants: tenants, access: access, feed: feed, work: work).routes
                + SyncRoutes(tenants: tenants).routes + TableRoutes(tenants: tenants).routes
                + RowRoutes(
                    tenants: tenants, longReads: LongReads(readers: operatorReaders),
                    exports: exports
                ).routes
                + QueueRoutes(tenants: tenants, exports: exports).routes
                + ImportRoutes(tenants: tenants).routes
                + ConflictRoutes(tenants: tenants, exports: exports).routes
                + HistoryRoutes(
                    tenants: tenants, exports: exports, capabilities: capabilities, now: clock.now
                ).routes)
        let passThrough = PassThrough(
            backend: configuration.backend, transport: transports.passing,
            signInTransport: transports.signingIn, tenants: tenants,
            cookies: BackendCookies(
                file: configuration.folder.cookiesFile, backend: configuration.backend,
                blockingExecutor: blockingExecutor),
            applicationKey: applicationKey, work: work,
            customAPIs: configuration.syncsCustomAPIs
                ? CustomAPIs(tenants: tenants, work: work, log: log) : nil)
        let waiting = Waiting(
            work: work, executor: blockingExecutor, permits: passThrough.permits)
        let tables = TablesRoutes(
            tenants: tenants, allowed: configuration.tables.map(Set.init),
            callers: CallerIdentification(
                tenants: tenants,
                verifier: TokenVerifier(
                    backend: configuration.backend, transport: transports.signingIn,
                    applicationKey: applicationKey),
                passThrough: passThrough, refusedWrites: refusedWrites, now: clock.now),
            reads: TableReads(
                tenants: tenants, longReads: LongReads(readers: longReaders), waiting: waiting),
            writes: TableWrites(
                tenants: tenants, waiting: waiting,
                permission: InsertPermission(tenants: tenants, passThrough: passThrough),
                refused: refusedWrites),
            changes: changes,
            itemPaths: ItemPaths(tenants: tenants, passThrough: passThrough),
            passThrough: passThrough,
            forwardedHeaders: ForwardedHeaders(configuration.forwardedHeaders), waiting: waiting,
            gate: gate)
        let routes = Routes(
            gate: gate, rejections: rejections, tables: tables, operatorAPI: operatorAPI,
            defaultGeneration: configuration.defaultGeneration)
        return AppGraph(
            routes: routes, tenants: tenants, access: access, work: work, feed: feed,
            changes: changes, backups: backups, notifier: notifier)
    }

    private func makeNotifier(
        _ transport: any HTTPTransport, _ tenants: TenantRegistry, rules: CurrentRules
    ) -> Notifier {
        Notifier(
            configuration.webhook, tenants: tenants, transport: transport,
            sender: Notifier.Sender(
                host: ThisProcess.host, backend: configuration.backend.description,
                dashboard: { rules.addresses.map { "http://\($0.dashboard)/-/" } }),
            now: clock.now,
            sleep: { [clock] in await clock.sleep(until: clock.uptime() + .seconds($0)) }, log: log)
    }

    private func makeAccess() throws(StartProblem) -> OperatorAccess {
        let folder = configuration.folder
        let kept = SessionFile(file: "\(folder.path)/sessions")
        return OperatorAccess(
            token: try folder.operatorToken(secret: ThisProcess.secret),
            sessions: kept.load(), now: clock.now, secret: ThisProcess.secret, persist: kept.save,
            onLinkExpired: { SignInPage.remove(folder, link: $0) })
    }

    private func makeCapabilities() -> Capabilities {
        let kept = CapabilityFile(file: "\(configuration.folder.path)/access")
        return Capabilities(
            kept: kept.load(), now: clock.now, secret: ThisProcess.secret, keep: kept.save)
    }
}

// The tenants: each has a store and an engine, and sends its events to the feed.
extension AppGraphBuilder {
    /// Makes the registry: opens the anonymous tenant and the index of the other stores.
    func makeTenants(
        _ transports: Transports, key: ApplicationKey, workers: Int, feed: EventFeed,
        changes: ClientChanges, work: BackgroundWork
    ) async throws(StartProblem) -> TenantRegistry {
        let tokens = KnownTokens(
            file: configuration.folder.tokensFile, backend: configuration.backend,
            now: clock.now)
        let owners = try openOwners(tokens)
        let tokenExecutor = BlockingExecutor(worker: 0)
        let anonymous = try makeTenant(
            Identity.anonymousKey, BackendStatusCache(), nil, nil, transports, key,
            workers: workers)
        try await prepare(anonymous)
        forwardEvents(of: anonymous, to: feed, changes, work: work)
        let index = try openIndex()
        let factory = TenantRegistry.Factory(
            tenantState: { _ in
                TenantState(
                    backendStatus: BackendStatusCache(),
                    signIn: SignIn(executor: tokenExecutor, known: tokens, now: clock.now))
            },
            tenant: { identity, tenantState, memory throws(StartProblem) in
                try makeTenant(
                    identity, tenantState.backendStatus, tenantState.signIn, memory, transports,
                    key, workers: workers)
            },
            opened: { forwardEvents(of: $0, to: feed, changes, work: work) },
            prepare: { tenant throws(StartProblem) in try await prepare(tenant) })
        let tenants = TenantRegistry(
            anonymous: anonymous, others: try closedStores(by: index), index: index, tokens: tokens,
            owners: owners, tokenExecutor: tokenExecutor, work: work,
            graceSeconds: configuration.offlineGraceSeconds,
            adoptsUnsigned: configuration.adoptsUnsigned, clock: clock, factory: factory)
        if configuration.rebind { try await rebindAll(tenants) }
        return tenants
    }

    /// Reads which user has which store, and takes the operator's word. The user who had such a store loses
    /// it: the tokens that were known for it are forgotten.
    private func openOwners(_ tokens: KnownTokens) throws(StartProblem) -> StoreOwners {
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
        }
        // All words are accepted. On disk stores are put aside and tokens are forgotten before the words are
        // saved: after a crash in between the same start can be repeated, and a user's next sign-in begins a new
        // store of the backend's rows.
        for word in configuration.takeovers { try folder.putAside(word.user) }
        do { try tokens.save() } catch { throw StartProblem("\(error)") }
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
            if let entry = entries[identity.key],
                entry.holds(of: store, file: StoreFile.init(path:))
            {
                stores[identity.key] = .known(entry)
            } else {
                stores[identity.key] = .unexamined
            }
        }
        return stores
    }

    private func prepare(_ tenant: Tenant) async throws(StartProblem) {
        for policy in configuration.policies {
            do throws(StoreError) { try await tenant.apply(policy) } catch {
                throw StartProblem("\(error)")
            }
        }
    }

    private func makeTenant(
        _ identity: String, _ backendStatus: BackendStatusCache, _ signIn: SignIn?,
        _ memory: EngineMemory?, _ transports: Transports, _ key: ApplicationKey, workers: Int
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
            store: store, transport: transports.syncing,
            backend: BackendConfiguration(
                address: configuration.backend, generation: configuration.backendGeneration,
                applicationKey: configuration.applicationKey),
            settings: configuration.syncSettings, clock: clock, log: log, memory: memory,
            following: transports.following, credential: { signIn?.credential ?? .none },
            refused: { credential in
                if case .token(let field) = credential { signIn?.refuse(Token(of: field)) }
            },
            applicationKey: { key.text })
        return Tenant(
            identity: identity, store: store, engine: engine, backendStatus: backendStatus,
            signIn: signIn)
    }

    private func rebind(_ tenant: Tenant) async throws(StartProblem) {
        do {
            try await tenant.engine.rebind()
        } catch {
            throw StartProblem("\(error)")
        }
    }

    /// Sends the store's events to the feed, and refreshes the cached backend state when it may have changed.
    private func forwardEvents(
        of tenant: Tenant, to feed: EventFeed, _ changes: ClientChanges, work: BackgroundWork
    ) {
        @Sendable func refresh() {
            work.start { await tenant.refreshBackendStatus() }
        }
        tenant.store.onEvents { events in
            feed.publish(events)
            changes.publish(events, of: tenant, work)
            if events.contains(where: { $0.kind == .status || $0.kind == .run }) { refresh() }
        }
        refresh()
    }
}
