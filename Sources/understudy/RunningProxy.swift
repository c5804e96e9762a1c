import Backend
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

/// A reference backend that listens.
struct RunningBackend: Sendable {
    /// Where it listens, as in a URL.
    let address: String
    let server: Server

    /// The table of the sample todos that ``TablesBackend/seedSampleTodos()`` fills.
    static let sampleTable = "todoitem"

    /// Where the rows are.
    enum Database: Sendable {
        /// A file of SQLite.
        case file(String)
        /// PostgreSQL, by its URL.
        case postgreSQL(String)
    }

    /// Opens the database and listens.
    static func start(
        _ listen: ListenAddress, on database: Database, options: BackendOptions, samples: Bool
    ) throws(StartProblem) -> RunningBackend {
        let backend: TablesBackend
        do {
            backend =
                switch database {
                case .file(let path):
                    try TablesBackend(at: path, options: options) { ThisProcess.now }
                case .postgreSQL(let url):
                    try TablesBackend(database: url, options: options) { ThisProcess.now }
                }
            if samples { try backend.seedSampleTodos() }
        } catch {
            throw StartProblem("The backend's database cannot be opened: \(error)")
        }
        var limits = HTTPServer.Limits()
        limits.bodiesBytes = Limits.backendBodiesBytes
        let server = Server(
            ServerConfiguration(addresses: [listen], limits: limits), handler: backend)
        do {
            let bound = try server.start()
            return RunningBackend(address: bound.first?.description ?? "", server: server)
        } catch {
            throw StartProblem(error.description)
        }
    }

    /// Stops it at the end.
    var service: any Service { ShutdownService { await server.stop() } }
}
