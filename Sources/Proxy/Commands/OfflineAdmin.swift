import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import TablesProtocol

/// The graph of a data folder on which no Understudy runs, opened for one command: the operator API
/// answers from the store, nothing is sent to the backend, and no other process gets in.
struct OfflineAdmin: HTTPTransport {
    private let graph: AppGraph
    private let lock: FolderLock
    /// The token that its API asks for.
    let token: String

    /// The authority that requests to it name; the API compares it with nothing.
    static let authority = "store"

    /// Opens the graph.
    /// - Throws: ``StartProblem`` when there is no store, or another process has the folder.
    static func open(_ folder: DataFolder, log: Logger) async throws(StartProblem) -> OfflineAdmin {
        guard folder.hasStore else {
            throw StartProblem(
                "No Understudy runs on \(folder.path), and nothing is stored there. Start one, or "
                    + "name its folder with --data.", .notRunning)
        }
        let lock = try folder.open()
        do {
            let sources = Sources(
                flags: ["data": [folder.path], "sync": [SyncChoice.manual.rawValue]],
                environment: { _ in nil })
            let known = try folder.contents(Identity.anonymousKey).backend.flatMap { BackendAddress($0) }
            guard let address = known ?? BackendAddress("http://backend.invalid") else {
                throw StartProblem("The store's backend has no valid address.", .error)
            }
            let configuration = try ServeConfiguration(
                sources, backend: address, folderName: "understudy", rebind: false)
            let graph = try await Composition(configuration, log: log)
                .assemble(UnreachableTransport(), workers: 1)
            return OfflineAdmin(
                graph: graph, lock: lock,
                token: try folder.operatorToken(secret: ThisProcess.secret))
        } catch {
            lock.release()
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// Runs what the routes need to answer, for the time of `body`, and closes the graph.
    func whileOpen<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        defer { lock.release() }
        let result: Result<Value, any Error> = await withTaskGroup(of: Void.self) { [graph] group in
            group.addTask { await graph.work.run() }
            defer { group.cancelAll() }
            do { return .success(try await body()) } catch { return .failure(error) }
        }
        await graph.tenants.close()
        return try result.get()
    }

    /// Answers a request to the operator API.
    func send(_ request: Request) async throws(TransportError) -> Response {
        guard let path = try? TargetPath(request) else {
            throw TransportError(reach: .notSent, cause: .invalid, message: "The path is invalid.")
        }
        switch graph.routes.operatorAPI.handle(request, path) {
        case .now(let response): return response
        case .later(let start):
            return await withCheckedContinuation { continuation in
                start(Reply { continuation.resume(returning: $0) })
            }
        }
    }

    /// The way to a backend when nothing may be sent.
    private struct UnreachableTransport: HTTPTransport {
        func send(_ request: Request) async throws(TransportError) -> Response {
            throw TransportError(
                reach: .notSent, cause: .connect, message: "No Understudy runs here.")
        }
    }
}
