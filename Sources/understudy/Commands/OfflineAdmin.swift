import HTTPMessage
import HTTPTypes
import Logging
import Proxy
import SyncCore
import TablesProtocol

/// The operator API of a data folder on which no Understudy runs, for one command: it answers from the
/// store, nothing is sent to the backend, and no other process opens the folder meanwhile.
struct OfflineAdmin: HTTPTransport {
    private let graph: AppGraph
    private let lock: FolderLock
    /// The token that its API asks for.
    let token: String

    /// The authority that requests to it name; the API compares it with nothing.
    static let authority = "store"

    /// Opens the folder.
    /// - Throws: ``StartProblem`` when there is no store, or another process has the folder.
    static func open(_ folder: DataFolder, log: Logger) async throws(StartProblem) -> OfflineAdmin {
        guard folder.hasStore else {
            throw StartProblem(
                "No Understudy runs on \(folder.path), and nothing is stored there. Start one, or "
                    + "name its folder with --data.", .notRunning)
        }
        let lock = try folder.open()
        do {
            let known = try folder.contents(Identity.anonymousKey).backend.flatMap {
                BackendAddress($0)
            }
            guard let address = known ?? BackendAddress("http://backend.invalid") else {
                throw StartProblem("The store's backend has no valid address.", .error)
            }
            var configuration = ProxyConfiguration(backend: address, folder: folder)
            configuration.triggers = [.manual]
            let graph = try await AppGraphBuilder(configuration, log: log).build(
                AppGraphBuilder.Transports(syncing: UnreachableTransport()), workers: 1,
                opensSignIns: false)
            return OfflineAdmin(
                graph: graph, lock: lock,
                token: try folder.operatorToken(secret: ThisProcess.secret))
        } catch {
            lock.release()
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// Runs what the routes need to answer, for the time of `body`, and closes the stores.
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

    /// Answers a request to the operator API.
    func send(_ request: Request) async throws(TransportError) -> Response {
        try await graph.operatorResponse(to: request)
    }

    /// The way to a backend when nothing may be sent.
    private struct UnreachableTransport: HTTPTransport {
        func send(_ request: Request) async throws(TransportError) -> Response {
            throw TransportError(
                reach: .notSent, cause: .connect, message: "No Understudy runs here.")
        }
    }
}
