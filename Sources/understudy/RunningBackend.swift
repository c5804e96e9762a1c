import HTTPServer
import Proxy
import ReferenceBackend
import ServiceLifecycle

/// A reference backend that listens.
struct RunningBackend: Sendable {
    /// Where it listens, as in a URL.
    let address: String
    let server: Server

    /// The table of the sample todos that ``ReferenceBackend/seedSampleTodos()`` fills.
    static let sampleTable = "todoitem"

    /// Opens the database and listens.
    static func start(
        _ listen: ListenAddress, file: String?, options: BackendOptions, samples: Bool
    ) throws(StartProblem) -> RunningBackend {
        let backend: ReferenceBackend
        do {
            backend = try ReferenceBackend(at: file, options: options) { ThisProcess.now }
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
