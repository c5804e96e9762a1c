import HTTPClient
import HTTPMessage
import HTTPServer
import Logging
import SyncCore
import TablesProtocol

/// Builds the whole graph of a proxy: data folder, stores, engines, guard, routes, server. The only
/// place where the rooms meet; everything is handed what it needs.
struct Composition {
    let configuration: ServeConfiguration
    let log: Logger
    /// Sockets that listen already; with any, the configured address is not listened on.
    var sockets: [CInt] = []
    let clock = SystemClock()

    /// Makes a composition.
    init(_ configuration: ServeConfiguration, log: Logger) {
        self.configuration = configuration
        self.log = log
    }

    /// Builds everything over a transport and starts listening; nothing is left behind when it
    /// fails.
    /// - Throws: ``StartProblem`` with the one sentence that says why.
    func start(_ lock: FolderLock) async throws(StartProblem) -> RunningProxy {
        try refuseSelf(at: addresses)
        let transport = try makeTransport()
        let passing = try makeTransport(connections: Limits.passedConnections)
        let signingIn = try makeTransport(connections: Limits.signInConnections)
        let graph = try await assemble(
            transport, passing: passing, signingIn: signingIn,
            workers: ServerConfiguration.cores,
            remembered: openSignIns())
        let own: SocketPath
        do {
            own = try configuration.folder.socketPath()
        } catch {
            throw StartProblem("\(error)")
        }
        let server = Server(
            ServerConfiguration(
                addresses: addresses,
                unixSockets: [own.path] + (configuration.socket.map { [$0] } ?? []),
                openSockets: sockets, workers: ServerConfiguration.cores),
            handler: graph.routes, observer: RequestLog(log: log),
            onRefusal: { graph.routes.rejections.count($0) })
        let bound = try await listen(server)
        // The links of an earlier process are good no more.
        SignInPage.removeAll(configuration.folder)
        do {
            try configuration.folder.writeAddress("http://\(bound)")
        } catch {
            await server.stop()
            throw StartProblem("\(error)")
        }
        let listening = ListeningAddresses(
            clients: bound, dashboard: configuration.dashboard ?? bound)
        graph.routes.gate.currentRules.listens(at: listening)
        return RunningProxy(
            address: "\(bound)", dashboard: "\(listening.dashboard)", graph: graph,
            folder: configuration.folder, lock: lock,
            server: server, socket: own, transports: [transport, passing, signingIn])
    }

    /// Builds everything that needs no socket.
    /// - Parameters:
    ///   - transport: leads to the backend.
    ///   - passing: leads there for what clients have passed through, so that slow ones do not hold
    ///     up syncing; nil for the same way.
    ///   - signingIn: leads there for signing in and for asking whose a token is, so that nothing that
    ///     is passed through holds them up; nil for the same way.
    ///   - workers: threads that will call the routes, each with a reader of its own; the readers of the
    ///     lanes come after theirs.
    ///   - remembered: the sign-ins of earlier starts; without any, tokens are in memory only.
    func assemble(
        _ transport: any HTTPTransport, passing: (any HTTPTransport)? = nil,
        signingIn: (any HTTPTransport)? = nil, workers: Int,
        remembered: RememberedSignIns.Opening = RememberedSignIns.Opening()
    ) async throws(StartProblem) -> AppGraph {
        let blockingExecutor = BlockingExecutor(worker: workers)
        let longReaders = workers + 1..<workers + 1 + Limits.longReadsAtOnce
        let operatorReaders =
            longReaders.upperBound..<longReaders.upperBound + Limits.operatorReadsAtOnce
        let work = BackgroundWork()
        let feed = EventFeed()
        let applicationKey = ApplicationKey(configured: configuration.applicationKey)
        let tenants = try await makeTenants(
            transport, key: applicationKey, signIns: remembered.signIns,
            workers: operatorReaders.upperBound, feed: feed, work: work)
        let access = try makeAccess()
        let capabilities = makeCapabilities()
        let rejections = RejectionLog(now: clock.now)
        let gate = Guard(
            rules: configuration.rules, access: access, capabilities: capabilities,
            dashboardPort: configuration.dashboard?.port)
        let operatorAPI = OperatorAPI(
            tenants: tenants, access: access, capabilities: capabilities, rejections: rejections,
            rules: gate.currentRules, loginUsers: LoginUsers.count,
            startWarnings: [remembered.warning].compactMap { $0 }, feed: feed,
            readiness: Readiness(now: clock.now) { await tenants.proveWritable() }, work: work,
            longReads: LongReads(readers: operatorReaders), startedAt: clock.now(), now: clock.now)
        let passThrough = PassThrough(
            backend: configuration.backend, transport: passing ?? transport,
            signInTransport: signingIn ?? transport, tenants: tenants,
            cookies: BackendCookies(
                file: configuration.folder.cookiesFile, backend: configuration.backend,
                blockingExecutor: blockingExecutor),
            applicationKey: applicationKey,
            defaultGeneration: configuration.defaultGeneration, work: work)
        let tables = TablesRoutes(
            tenants: tenants, defaultGeneration: configuration.defaultGeneration,
            tables: configuration.tables.map(Set.init), work: work, blockingExecutor: blockingExecutor,
            longReads: LongReads(readers: longReaders),
            tokenVerifier: TokenVerifier(
                backend: configuration.backend, transport: signingIn ?? transport,
                applicationKey: applicationKey),
            passThrough: passThrough,
            forwardedHeaders: ForwardedHeaders(configuration.forwardedHeaders), now: clock.now)
        let routes = Routes(
            gate: gate, rejections: rejections, tables: tables, operatorAPI: operatorAPI,
            passThrough: passThrough)
        return AppGraph(routes: routes, tenants: tenants, access: access, work: work, feed: feed)
    }

    /// The remembered sign-ins; what an earlier start remembered goes when the option does.
    func openSignIns() -> RememberedSignIns.Opening {
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

    private func makeTransport(connections: Int = 8) throws(StartProblem) -> CurlTransport {
        do {
            return try CurlTransport(configuration.backendConnection.client(connections: connections))
        } catch {
            throw StartProblem(error.message, .error)
        }
    }

    var syncSettings: SyncSettings {
        SyncSettings(
            triggers: configuration.sync.triggers, parallelism: configuration.parallelism,
            tables: configuration.tables ?? configuration.pulledTables,
            pageRows: configuration.pageRows)
    }

    private func makeAccess() throws(StartProblem) -> OperatorAccess {
        let folder = configuration.folder
        let kept = SessionFile(file: "\(folder.path)/sessions")
        return OperatorAccess(
            token: try folder.operatorToken(secret: ThisProcess.secret),
            sessions: kept.load(), now: clock.now, secret: ThisProcess.secret, persist: kept.save,
            linkGone: { SignInPage.remove(folder, link: $0) })
    }

    private func makeCapabilities() -> Capabilities {
        let kept = CapabilityFile(file: "\(configuration.folder.path)/access")
        return Capabilities(
            kept: kept.load(), now: clock.now, secret: ThisProcess.secret, keep: kept.save)
    }

    /// Where to listen, the dashboard's own address last. Sockets that listen already stand for the
    /// clients' address.
    private var addresses: [ListenAddress] {
        let clients = sockets.isEmpty ? Self.both(configuration.listen) : []
        return clients + (configuration.dashboard.map(Self.both) ?? [])
    }

    /// 127.0.0.1 gets [::1] with the same port beside it, where that is free.
    private static func both(_ main: ListenAddress) -> [ListenAddress] {
        guard main.host == "127.0.0.1", main.port != 0,
            let second = try? ListenAddress(host: "::1", port: main.port, isOptional: true)
        else { return [main] }
        return [main, second]
    }

    /// Refuses to stand in for itself.
    private func refuseSelf(at addresses: [ListenAddress]) throws(StartProblem) {
        let backend = configuration.backend
        guard let own = addresses.first(where: backend.isServed) else { return }
        throw StartProblem(
            "The backend \(backend) is the address that this proxy listens on. Name the real "
                + "backend, or listen elsewhere: --listen 127.0.0.1:\(own.port &+ 1)")
    }

    private func listen(_ server: Server) async throws(StartProblem) -> ListenAddress {
        let bound: [ListenAddress]
        do {
            bound = try server.start()
        } catch {
            throw StartProblem(error.description)
        }
        do {
            try refuseSelf(at: bound)
        } catch {
            await server.stop()
            throw error
        }
        let clients = bound.first { $0.port != configuration.dashboard?.port }
        guard let first = clients, bound.allSatisfy(\.isLoopback) else {
            await server.stop()
            throw StartProblem(
                "A socket that was handed over listens on another address than a loopback one: "
                    + "\(bound.map(\.description).joined(separator: ", ")). Say "
                    + "ListenStream=127.0.0.1:8080 in the socket unit.")
        }
        return first
    }
}

extension ListenAddress {
    /// Whether only this machine reaches it.
    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }
}
