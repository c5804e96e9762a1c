import HTTPClient
import HTTPServer
import Proxy
import ServiceLifecycle

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
    /// The socket for the commands.
    let socket: SocketPath
    let transports: [CurlTransport]

    /// Makes a one-time link that signs a browser in.
    func makeLink() -> String { graph.makeLink(host: dashboard) }

    /// The services in the order of their start. They are stopped in reverse order, so that the server
    /// accepts no request any more when the engines end.
    var services: [any Service] {
        graph.loops.map { LoopService($0) } + [
            ShutdownService {
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
