package import Backend
package import HTTPServer
package import Logging
package import Platform
import Storage

package actor RunningBackend {
    /// Where it listens, as in a URL.
    package nonisolated let address: String
    /// `http` or `https`.
    package nonisolated let scheme: String
    private let log: Logger
    private let backend: TablesBackend
    private var server: Server
    private var certificate: ServerCertificate?

    /// The table of the sample todos that ``TablesBackend/seedSampleTodos()`` fills.
    package static let sampleTable = "todoitem"

    /// Opens the database and listens.
    /// - Parameter open: opens the backend on its database.
    package static func start(
        _ listen: ListenAddress, samples: Bool = false, security: BackendSecurity? = nil,
        log: Logger, opening open: () throws -> TablesBackend
    ) throws(StartProblem) -> RunningBackend {
        let backend: TablesBackend
        do {
            backend = try open()
            if samples { try backend.seedSampleTodos() }
        } catch let other as OtherIDKind {
            throw StartProblem("\(other)")
        } catch {
            throw StartProblem("The backend's database cannot be opened: \(error)")
        }
        backend.access = security?.access
        backend.onFailure = { log.error("request failed", metadata: ["problem": "\($0)"]) }
        backend.onStorageNews = { news in
            switch news {
            case .unavailable(let reason):
                log.warning("database does not answer", metadata: ["problem": "\(reason)"])
            case .answers: log.notice("database answers again")
            case .silent(let reason):
                log.warning("changes are not told", metadata: ["problem": "\(reason)"])
            case .tells: log.notice("changes are told again")
            }
        }
        let certificate = security?.certificate
        let server = Self.server(backend, certificate, log, addresses: [listen])
        do {
            let bound = try server.start()
            return RunningBackend(
                address: bound.first?.description ?? "", backend, server, certificate, log)
        } catch {
            throw StartProblem(error.description)
        }
    }

    private init(
        address: String, _ backend: TablesBackend, _ server: Server,
        _ certificate: ServerCertificate?, _ log: Logger
    ) {
        self.address = address
        self.log = log
        scheme = certificate == nil ? "http" : "https"
        self.backend = backend
        self.server = server
        self.certificate = certificate
    }

    private static func server(
        _ backend: TablesBackend, _ certificate: ServerCertificate?, _ log: Logger,
        addresses: [ListenAddress] = [], openSockets: [CInt] = []
    ) -> Server {
        var limits = HTTPServer.Limits()
        limits.bodiesBytes = Limits.backendBodiesBytes
        // A `Link` repeats the target, and characters beyond ASCII are longer in it.
        limits.answerHeadBytes += Limits.backendLinkBytes
        limits.changeGraceMilliseconds = Limits.backendChangeMilliseconds
        limits.eventStreams = Backend.Limits.changeFollowers
        return Server(
            ServerConfiguration(
                addresses: addresses, openSockets: openSockets, certificate: certificate,
                limits: limits), handler: backend, observer: RequestLog(log: log),
            onRefusal: { backend.count($0) })
    }

    /// Whether users' tokens are verified.
    package nonisolated var verifiesTokens: Bool { backend.access != nil }

    /// Takes over keys and a certificate that changed. If the certificate cannot be used, nothing changes.
    ///
    /// A server with the new certificate adopts the listening sockets; then the one with the old certificate
    /// stops, which answers what is being changed and refuses what waits with 503 and `Retry-After`.
    package func reload(_ security: BackendSecurity) async throws(StartProblem) {
        guard (security.certificate == nil) == (certificate == nil),
            (security.access == nil) == (backend.access == nil)
        else {
            throw StartProblem("TLS and --access-file are turned on and off at a start alone.")
        }
        let old = server
        if security.certificate != certificate {
            let sockets = old.copiedListeners()
            // Without a socket the new server would start, and nobody would find it.
            if sockets.isEmpty { throw StartProblem("Its listening socket cannot be copied.") }
            let new = Self.server(backend, security.certificate, log, openSockets: sockets)
            do {
                _ = try new.start()
            } catch {
                throw StartProblem(error.description)
            }
            server = new
            certificate = security.certificate
        }
        backend.access = security.access
        if old !== server { await old.stop() }
    }

    /// Answers `/-/readyz` with 503 and all else as before, for a while: in that time a load balancer turns to
    /// other nodes.
    package func drain(seconds: Int) async {
        backend.beginToDrain()
        try? await Task.sleep(for: .seconds(seconds))
    }

    /// Stops listening, and waits for what is being answered.
    package func stop() async {
        backend.endFollowing()
        await server.stop()
    }

    /// Removes what is no longer kept, at the start and then once in so many seconds.
    package nonisolated func expiring(everySeconds seconds: Int) -> Service {
        .loop { [backend, log] in
            while !Task.isCancelled {
                do {
                    try await backend.removeExpired()
                } catch is CancellationError {
                    return
                } catch {
                    log.warning(
                        "old effects and tombstones stay", metadata: ["problem": "\(error)"])
                }
                try? await Task.sleep(for: .seconds(seconds))
            }
        }
    }

    package nonisolated var service: Service { .atStop { await self.stop() } }
}

extension DataFolder {
    /// Takes the lock of a folder with the database of a backend or of a copy. A full disk is no reason not to
    /// open it for reading.
    package func openForDatabase() throws(StartProblem) -> FolderLock {
        let lock = try lock()
        if !lock.hasRoom(bytes: Platform.Limits.openingBytes) {
            DatabaseFiles.shareMemoryInProcess()
        }
        return lock
    }
}
