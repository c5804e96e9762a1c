import HTTPClient
import HTTPMessage
import HTTPServer
import Logging
import Platform
import Program
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

    init(_ configuration: ServeConfiguration, log: Logger) {
        self.configuration = configuration
        self.log = log
    }

    /// Builds the proxy and starts to listen. If that fails, nothing listens.
    /// - Throws: ``StartProblem`` with the reason in one sentence.
    func start(_ lock: FolderLock) async throws(StartProblem) -> RunningProxy {
        try configuration.refuseSelf(at: addresses)
        let transport = try makeTransport(connections: Program.Limits.syncConnections)
        let passing = try makeTransport(
            connections: Proxy.Limits.passedConnections, headBytes: Proxy.Limits.passedHeadBytes)
        let signingIn = try makeTransport(
            connections: Proxy.Limits.signInConnections, headBytes: Proxy.Limits.passedHeadBytes)
        let following = try makeTransport(connections: Proxy.Limits.followingConnections)
        let notifying = try makeNotifyingTransport()
        var builder = AppGraphBuilder(configuration.proxy, log: log)
        builder.processReport = report
        let graph = try await builder.build(
            AppGraphBuilder.Transports(
                syncing: transport, passing: passing, signingIn: signingIn, following: following,
                notifying: notifying),
            workers: ServerConfiguration.cores)
        try await withdrawPolicies(graph)
        let folder = configuration.proxy.folder
        let own: SocketPath
        do {
            own = try folder.socketPath()
        } catch {
            throw StartProblem("\(error)")
        }
        var limits = HTTPServer.Limits()
        limits.eventStreams = Proxy.Limits.allEventStreams
        limits.answerHeadBytes += Proxy.Limits.passedHeadBytes
        let server = Server(
            ServerConfiguration(
                addresses: addresses,
                unixSockets: [own.path] + (configuration.socket.map { [$0] } ?? []),
                openSockets: sockets, workers: ServerConfiguration.cores, limits: limits),
            handler: graph.handler,
            observer: RequestLog(log: log),
            onRefusal: { graph.count($0) })
        let bound = try await listen(server)
        // The links of an earlier process are not valid.
        SignInPage.removeAll(folder)
        do {
            try folder.writeAddress("http://\(bound)")
        } catch  where error.isDiskFull {
            log.warning("\(error)")
        } catch {
            await server.stop()
            throw StartProblem("\(error)")
        }
        let dashboard = "\(configuration.dashboard ?? bound)"
        graph.setAddresses(clients: "\(bound)", dashboard: dashboard)
        return RunningProxy(
            address: "\(bound)", dashboard: dashboard, graph: graph, folder: folder, lock: lock,
            server: server, socket: own,
            transports: [transport, passing, signingIn, following, notifying])
    }

    /// Takes back the policies that the last start or reload named and this start does not.
    private func withdrawPolicies(_ graph: AppGraph) async throws(StartProblem) {
        let folder = configuration.proxy.folder
        do {
            let left = try await graph.withdraw(
                try folder.configuredPolicies(), except: configuration.proxy.policies)
            if left > 0 {
                log.warning(
                    "some stores could not be opened; they take the policies in when they can",
                    metadata: ["stores": "\(left)"])
            }
            try folder.keep(configuredPolicies: configuration.policyTexts)
        } catch {
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// Makes a transport to the backend.
    /// - Parameter headBytes: the longest head of an answer; nil for the client's own limit.
    private func makeTransport(
        connections: Int, headBytes: Int? = nil
    ) throws(StartProblem) -> CurlTransport {
        var client = configuration.backendConnection.client(connections: connections)
        if let headBytes { client.responseHeadLimitBytes = headBytes }
        do {
            return try CurlTransport(client)
        } catch {
            throw StartProblem(error.message, .error)
        }
    }

    /// Makes the transport to a webhook. It is no backend: it gets neither the certificate that the backend is
    /// shown nor its proxy.
    private func makeNotifyingTransport() throws(StartProblem) -> CurlTransport {
        do {
            return try CurlTransport(
                ClientConfiguration(
                    requestTimeout: .seconds(Proxy.Limits.webhookSeconds),
                    responseBodyLimitBytes: Proxy.Limits.webhookAnswerBytes,
                    maxConnectionsPerHost: 1, userAgent: "understudy/\(Version.text)"))
        } catch {
            throw StartProblem(error.message, .error)
        }
    }

    /// The addresses to listen on, the dashboard's own last. Adopted sockets replace the clients' address.
    private var addresses: [ListenAddress] {
        sockets.isEmpty ? configuration.addresses : configuration.dashboardAddresses
    }

    private func listen(_ server: Server) async throws(StartProblem) -> ListenAddress {
        let bound: [ListenAddress]
        do {
            bound = try server.start()
        } catch {
            throw StartProblem(error.description)
        }
        do {
            try configuration.refuseSelf(at: bound)
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

extension ServeConfiguration {
    /// The addresses to listen on, the dashboard's own last.
    var addresses: [ListenAddress] { Self.both(listen) + dashboardAddresses }

    /// The dashboard's own addresses; none if it has the clients' address.
    var dashboardAddresses: [ListenAddress] { dashboard.map(Self.both) ?? [] }

    /// The address; 127.0.0.1 also gets [::1] with the same port, which is optional.
    private static func both(_ main: ListenAddress) -> [ListenAddress] {
        guard main.host == "127.0.0.1", main.port != 0,
            let second = try? ListenAddress(host: "::1", port: main.port, isOptional: true)
        else { return [main] }
        return [main, second]
    }

    /// Throws if the backend is one of the addresses that this proxy listens on.
    func refuseSelf(at addresses: [ListenAddress]) throws(StartProblem) {
        let backend = proxy.backend
        guard let own = addresses.first(where: backend.isServed) else { return }
        throw StartProblem(
            "The backend \(backend) is the address that this proxy listens on. Name the real "
                + "backend, or listen elsewhere: --listen 127.0.0.1:\(own.port &+ 1)")
    }
}

/// A proxy that listens, with all its resources.
struct RunningProxy: Sendable {
    /// The address of clients, as host and port.
    let address: String
    /// The address of the dashboard, as host and port.
    let dashboard: String
    let graph: AppGraph
    let folder: DataFolder
    let lock: FolderLock
    let server: Server
    let socket: SocketPath
    let transports: [CurlTransport]

    /// Makes a one-time link that signs a browser in.
    func makeLink() -> String { graph.makeLink(host: dashboard) }

    /// The services in the order of their start. They are stopped in reverse order, so that the server
    /// accepts no request any more when the engines end.
    var services: [Service] {
        graph.loops.map { .loop($0) } + [
            .atStop {
                graph.closeStreams()
                await server.stop()
            }
        ]
    }

    /// Closes all resources after the services have ended.
    func close() async {
        for transport in transports { await transport.stop() }
        await graph.close()
        folder.removeAddress()
        SignInPage.removeAll(folder)
        socket.close()
        lock.release()
    }
}
