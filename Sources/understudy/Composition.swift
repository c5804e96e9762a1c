import HTTPClient
import HTTPMessage
import HTTPServer
import Logging
import Proxy
import SyncCore

/// Builds a proxy that listens: the ways to the backend, the graph over them, the server. The only place
/// where sockets and the proxy meet.
struct Composition {
    let configuration: ServeConfiguration
    let log: Logger
    /// Sockets that listen already; with any, the configured address is not listened on.
    var sockets: [CInt] = []

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
        let passing = try makeTransport(connections: Proxy.Limits.passedConnections)
        let signingIn = try makeTransport(connections: Proxy.Limits.signInConnections)
        let graph = try await AppGraphBuilder(configuration.proxy, log: log).build(
            AppGraphBuilder.Transports(
                syncing: transport, passing: passing, signingIn: signingIn),
            workers: ServerConfiguration.cores, opensSignIns: true)
        let folder = configuration.proxy.folder
        let own: SocketPath
        do {
            own = try folder.socketPath()
        } catch {
            throw StartProblem("\(error)")
        }
        let server = Server(
            ServerConfiguration(
                addresses: addresses,
                unixSockets: [own.path] + (configuration.socket.map { [$0] } ?? []),
                openSockets: sockets, workers: ServerConfiguration.cores),
            handler: graph.handler, observer: RequestLog(log: log),
            onRefusal: { graph.count($0) })
        let bound = try await listen(server)
        // The links of an earlier process are no longer good.
        SignInPage.removeAll(folder)
        do {
            try folder.writeAddress("http://\(bound)")
        } catch {
            await server.stop()
            throw StartProblem("\(error)")
        }
        let dashboard = "\(configuration.dashboard ?? bound)"
        graph.listens(clients: "\(bound)", dashboard: dashboard)
        return RunningProxy(
            address: "\(bound)", dashboard: dashboard, graph: graph, folder: folder, lock: lock,
            server: server, socket: own, transports: [transport, passing, signingIn])
    }

    private func makeTransport(connections: Int = 8) throws(StartProblem) -> CurlTransport {
        do {
            return try CurlTransport(
                configuration.backendConnection.client(connections: connections))
        } catch {
            throw StartProblem(error.message, .error)
        }
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
        let backend = configuration.proxy.backend
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
