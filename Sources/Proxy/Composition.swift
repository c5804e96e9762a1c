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
        let transport = try makeTransport()
        let passing = try makeTransport(connections: Limits.passedConnections)
        let house = try await assemble(
            transport, passing: passing, workers: ServerConfiguration.cores)
        let server = Server(
            ServerConfiguration(addresses: addresses, workers: ServerConfiguration.cores),
            handler: house.routes)
        let bound = try listen(server)
        do {
            try configuration.folder.writeAddress("http://\(bound)")
        } catch {
            await server.stop()
            throw StartProblem("\(error)")
        }
        return RunningProxy(
            address: "\(bound)", house: house, folder: configuration.folder, lock: lock,
            server: server, transports: [transport, passing])
    }

    /// Builds everything that needs no socket.
    /// - Parameters:
    ///   - transport: leads to the backend.
    ///   - passing: leads there for what clients have passed through, so that slow ones do not hold
    ///     up syncing; nil for the same way.
    ///   - workers: threads that will call the routes, each with a reader of its own.
    func assemble(
        _ transport: any HTTPTransport, passing: (any HTTPTransport)? = nil, workers: Int
    ) async throws(StartProblem) -> House {
        let slowLane = SlowLane(worker: workers)
        let work = BackgroundWork()
        let feed = EventFeed()
        let homes = try await makeHomes(
            transport, workers: workers + 1, slowLane: slowLane, feed: feed, work: work)
        let access = try makeAccess()
        let rejections = RejectionLog(now: clock.now)
        let operatorAPI = OperatorAPI(
            homes: homes, access: access, rejections: rejections, feed: feed, work: work,
            slowLane: slowLane, startedAt: clock.now(), now: clock.now)
        let passThrough = PassThrough(
            backend: configuration.backend, transport: passing ?? transport, homes: homes,
            access: access, defaultGeneration: configuration.defaultGeneration, work: work)
        let tables = TablesRoutes(
            homes: homes, defaultGeneration: configuration.defaultGeneration,
            tables: configuration.tables.map(Set.init), work: work, slowLane: slowLane,
            voucher: Voucher(backend: configuration.backend, transport: passing ?? transport),
            passThrough: passThrough, now: clock.now)
        let routes = Routes(
            gate: Guard(rules: configuration.rules, access: access), rejections: rejections,
            tables: tables, operatorAPI: operatorAPI, passThrough: passThrough)
        return House(routes: routes, homes: homes, access: access, work: work, feed: feed)
    }

    private func makeTransport(connections: Int = 8) throws(StartProblem) -> CurlTransport {
        do {
            return try CurlTransport(
                ClientConfiguration(
                    maxConnectionsPerHost: connections, userAgent: "understudy/\(Version.text)"))
        } catch {
            throw StartProblem(error.message, .error)
        }
    }

    var syncSettings: SyncSettings {
        let triggers: Set<Trigger> =
            switch configuration.sync {
            case .auto: Set(Trigger.allCases)
            case .manual: [.manual]
            }
        return SyncSettings(
            triggers: triggers, parallelism: configuration.parallelism,
            tables: configuration.tables ?? configuration.pulledTables)
    }

    private func makeAccess() throws(StartProblem) -> OperatorAccess {
        let kept = KeptSessions(file: "\(configuration.folder.path)/sessions")
        return OperatorAccess(
            token: try configuration.folder.operatorToken(secret: ThisProcess.secret),
            sessions: kept.load(), now: clock.now, secret: ThisProcess.secret, persist: kept.save)
    }

    /// 127.0.0.1 gets [::1] with the same port beside it, where that is free.
    private var addresses: [ListenAddress] {
        let main = configuration.listen
        guard main.host == "127.0.0.1", main.port != 0,
            let second = try? ListenAddress(host: "::1", port: main.port, isOptional: true)
        else { return [main] }
        return [main, second]
    }

    private func listen(_ server: Server) throws(StartProblem) -> ListenAddress {
        do {
            guard let first = try server.start().first else {
                throw StartProblem("There is no address to listen on.")
            }
            return first
        } catch let failure as StartFailure {
            throw StartProblem(failure.description)
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)")
        }
    }
}
