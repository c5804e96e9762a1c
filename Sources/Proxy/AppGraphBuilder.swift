package import HTTPMessage
package import Logging
import SyncCore
import TablesProtocol

/// Builds an ``AppGraph``: stores, engines, guard, routes.
package struct AppGraphBuilder {
    /// The transports to the backend.
    package struct Transports: Sendable {
        let syncing: any HTTPTransport
        let passing: any HTTPTransport
        let signingIn: any HTTPTransport

        /// - Parameters:
        ///   - syncing: for the engines.
        ///   - passing: for requests that are passed through, so that slow ones do not delay syncing; nil for
        ///     `syncing`.
        ///   - signingIn: for logins and for the verification of tokens, so that requests that are passed
        ///     through do not delay them; nil for `syncing`.
        package init(
            syncing: any HTTPTransport, passing: (any HTTPTransport)? = nil,
            signingIn: (any HTTPTransport)? = nil
        ) {
            self.syncing = syncing
            self.passing = passing ?? syncing
            self.signingIn = signingIn ?? syncing
        }
    }

    let configuration: ProxyConfiguration
    let log: Logger
    let clock = SystemClock()
    /// What the operator API says of the process.
    package var processReport = ProcessReport.none

    /// Makes a builder.
    package init(_ configuration: ProxyConfiguration, log: Logger) {
        self.configuration = configuration
        self.log = log
    }

    /// Builds everything.
    /// - Parameters:
    ///   - workers: the number of threads that will call the routes, each with a reader of its own. The
    ///     readers of other threads have the numbers after theirs.
    ///   - opensSignIns: whether remembered sign-ins are opened, or removed when the configuration does not
    ///     remember any; if false, tokens are in memory only.
    /// - Throws: ``StartProblem`` with the reason in one sentence.
    package func build(
        _ transports: Transports, workers: Int, opensSignIns: Bool
    ) async throws(StartProblem) -> AppGraph {
        let remembered = opensSignIns ? openSignIns() : RememberedSignIns.Opening()
        let blockingExecutor = BlockingExecutor(worker: workers)
        let longReaders = workers + 1..<workers + 1 + Limits.longReadsAtOnce
        let operatorReaders =
            longReaders.upperBound..<longReaders.upperBound + Limits.operatorReadsAtOnce
        let work = BackgroundWork()
        let feed = EventFeed()
        let applicationKey = ApplicationKey(configured: configuration.applicationKey)
        let tenants = try await makeTenants(
            transports.syncing, key: applicationKey, signIns: remembered.signIns,
            workers: operatorReaders.upperBound, feed: feed, work: work)
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
        let operatorAPI = OperatorAPI(
            tenants: tenants, access: access, capabilities: capabilities, rejections: rejections,
            refusedWrites: refusedWrites, folder: configuration.folder, rules: gate.currentRules,
            loginUsers: LoginUsers.count,
            startWarnings: [remembered.warning].compactMap { $0 }, feed: feed,
            readiness: Readiness(now: clock.now) { await tenants.proveWritable() },
            backups: backups, work: work,
            longReads: LongReads(readers: operatorReaders), process: processReport,
            startedAt: clock.now(), now: clock.now)
        let passThrough = PassThrough(
            backend: configuration.backend, transport: transports.passing,
            signInTransport: transports.signingIn, tenants: tenants,
            cookies: BackendCookies(
                file: configuration.folder.cookiesFile, backend: configuration.backend,
                blockingExecutor: blockingExecutor),
            applicationKey: applicationKey,
            defaultGeneration: configuration.defaultGeneration, work: work)
        let tables = TablesRoutes(
            tenants: tenants, defaultGeneration: configuration.defaultGeneration,
            tables: configuration.tables.map(Set.init), work: work,
            blockingExecutor: blockingExecutor, longReads: LongReads(readers: longReaders),
            tokenVerifier: TokenVerifier(
                backend: configuration.backend, transport: transports.signingIn,
                applicationKey: applicationKey),
            passThrough: passThrough,
            forwardedHeaders: ForwardedHeaders(configuration.forwardedHeaders),
            refusedWrites: refusedWrites, now: clock.now)
        let routes = Routes(
            gate: gate, rejections: rejections, tables: tables, operatorAPI: operatorAPI,
            passThrough: passThrough)
        return AppGraph(
            routes: routes, tenants: tenants, access: access, work: work, feed: feed,
            backups: backups)
    }

    /// Opens the remembered sign-ins. Removes them when the configuration remembers none.
    private func openSignIns() -> RememberedSignIns.Opening {
        let folder = configuration.folder
        guard configuration.remembersSignIn else {
            folder.forgetSignIns()
            return RememberedSignIns.Opening()
        }
        return RememberedSignIns.open(
            folder.signInsFile,
            secret: SealSecret(
                credential: configuration.sealCredential, file: folder.signInsKeyFile),
            backend: configuration.backend.description,
            identities: Set(folder.identities.map(\.key)), log: log, random: ThisProcess.secret)
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
