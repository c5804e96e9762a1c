import HTTPMessage
import HTTPTypes
import Logging
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

/// The operator API of a data folder on which no Understudy runs, for one command. It answers from the
/// store, sends nothing to the backend, and holds the folder's lock.
struct OfflineAdmin: HTTPTransport {
    private let graph: AppGraph
    private let lock: FolderLock
    let token: String

    /// The authority of requests to it. The API does not check it.
    static let authority = "store"

    /// Opens the folder.
    /// - Parameter sources: the settings; those of the stores count, as at a start.
    /// - Throws: ``StartProblem`` when there is no store, a setting is wrong, or another process has the folder.
    static func open(
        _ folder: DataFolder, _ sources: Sources, log: Logger
    ) async throws(StartProblem) -> OfflineAdmin {
        guard folder.hasStore || folder.cutRestore != nil else {
            throw StartProblem(
                "No Understudy runs on \(folder.path), and nothing is stored there. Start one, or "
                    + "name its folder with --data.", .notRunning)
        }
        let lock = try folder.open(tell: ThisProcess.say)
        do {
            let known = try folder.contents(Identity.anonymousKey).backend.flatMap {
                BackendAddress($0)
            }
            guard let address = known ?? BackendAddress("http://backend.invalid") else {
                throw StartProblem("The store's backend has no valid address.", .error)
            }
            var configuration = ProxyConfiguration(backend: address, folder: folder)
            configuration.sync.triggers = [.manual]
            do throws(ConfigurationProblem) {
                try ServeConfiguration.readStores(sources, into: &configuration)
            } catch {
                throw error.startProblem
            }
            let graph = try await AppGraphBuilder(configuration, log: log).build(
                AppGraphBuilder.Transports(syncing: UnreachableTransport()), workers: 1)
            return OfflineAdmin(
                graph: graph, lock: lock,
                token: try folder.operatorToken(secret: ThisProcess.secret))
        } catch {
            lock.release()
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// Runs the background work of the routes during `body`, and then closes the stores.
    func whileOpen<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        defer { lock.release() }
        let result: Result<Value, any Error> = await withTaskGroup(of: Void.self) { [graph] group in
            group.addTask { await graph.runWork() }
            defer { group.cancelAll() }
            do { return .success(try await body()) } catch { return .failure(error) }
        }
        await graph.close()
        return try result.get()
    }

    func send(_ request: Request) async throws(TransportError) -> Response {
        try await graph.operatorResponse(to: request)
    }

    /// A transport that sends nothing.
    private struct UnreachableTransport: HTTPTransport {
        func send(_ request: Request) async throws(TransportError) -> Response {
            throw TransportError(
                reach: .notSent, cause: .connect, message: "No Understudy runs here.")
        }
    }
}
