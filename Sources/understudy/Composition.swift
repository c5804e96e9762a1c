import HTTPClient
import HTTPMessage
import HTTPServer
import Logging
import Proxy
import SyncCore

/// Builds a proxy that listens: the transports to the backend, the ``AppGraph``, and the server.
struct Composition {
    let configuration: ServeConfiguration
    let log: Logger
    /// Listening sockets to adopt. With any, the server does not listen on the clients' configured address.
    var sockets: [CInt] = []
    /// What the operator API says of the process.
    var report = ProcessReport.none

    /// Makes a composition.
    init(_ configuration: ServeConfiguration, log: Logger) {
        self.configuration = configuration
        self.log = log
    }

    /// Builds the proxy and starts to listen. If that fails, nothing listens.
    /// - Throws: ``StartProblem`` with the reason in one sentence.
    func start(_ lock: FolderLock) async throws(StartProblem) -> RunningProxy {
        try refuseSelf(at: addresses)
        let transport = try makeTransport(connections: Proxy.Limits.syncConnections)
        let passing = try makeTransport(connections: Proxy.Limits.passedConnections)
        let signingIn = try makeTransport(connections: Proxy.Limits.signInConnections)
        var builder = AppGraphBuilder(configuration.proxy, log: log)
        builder.processReport = report
        let graph = try await builder.build(
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
            handler: graph.handler,
            observer: RequestObservers(all: [
                RequestLog(log: log), ClientRequestCounter(graph: graph),
            ]),
            onRefusal: { graph.count($0) })
        let bound = try await listen(server)
        // The links of an earlier process are not valid.
        SignInPage.removeAll(folder)
        do {
            try folder.writeAddress("http://\(bound)")
        } catch {
            await server.stop()
            throw StartProblem("\(error)")
        }
        let dashboard = "\(configuration.dashboard ?? bound)"
        graph.setAddresses(clients: "\(bound)", dashboard: dashboard)
        return RunningProxy(
            address: "\(bound)", dashboard: dashboard, graph: graph, folder: folder, lock: lock,
            server: server, socket: own, transports: [transport, passing, signingIn])
    }

    private func makeTransport(connections: Int) throws(StartProblem) -> CurlTransport {
        do {
            return try CurlTransport(
                configuration.backendConnection.client(connections: connections))
        } catch {
            throw StartProblem(error.message, .error)
        }
    }

    /// The addresses to listen on, the dashboard's own last. Adopted sockets replace the clients' address.
    private var addresses: [ListenAddress] {
        let clients = sockets.isEmpty ? Self.both(configuration.listen) : []
        return clients + (configuration.dashboard.map(Self.both) ?? [])
    }

    /// The address; 127.0.0.1 also gets [::1] with the same port, which is optional.
    private static func both(_ main: ListenAddress) -> [ListenAddress] {
        guard main.host == "127.0.0.1", main.port != 0,
            let second = try? ListenAddress(host: "::1", port: main.port, isOptional: true)
        else { return [main] }
        return [main, second]
    }

    /// Throws if the backend is one of the addresses that this proxy listens on.
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
    /// Whether it is a loopback address.
    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }
}
