import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Passes what is neither `/tables` nor `/-/` on to the backend and its answer back, byte for byte:
/// custom APIs, logins, push registrations. Of logins it learns whose token is whose.
struct PassThrough: Sendable {
    let backend: BackendAddress
    let transport: any HTTPTransport
    /// Leads to the backend for signing in, so that what is passed through does not hold it up.
    let signInTransport: any HTTPTransport
    let tenants: TenantRegistry
    let cookies: BackendCookies
    let applicationKey: ApplicationKey
    let defaultGeneration: Generation
    let work: BackgroundWork
    /// The permits for clients that wait for the backend and have sent all that they send.
    let permits = Permits(Limits.requestsAtBackend)
    /// The permits for those that send a body meanwhile, as slowly as they like.
    let uploadPermits = QueuedPermits(Limits.uploadsAtBackend, waiting: Limits.uploadsWaiting)
    /// The permits for signing in, and for tokens that the backend is asked about.
    let signInPermits = QueuedPermits(Limits.signInsAtBackend, waiting: Limits.signInsWaiting)

    /// What holds for one request that is passed on.
    struct Forwarding: Sendable, Hashable {
        /// The path of the client's capability address; empty for the plain one.
        var base = ""
        /// Whether the operator's application key may be added: not for a caller that may not use
        /// `/tables`.
        var addsKey: Bool
        /// Whether a page in the answer gets an origin of its own.
        var isSandboxed: Bool

        /// For a request to `/tables` that the backend has to answer itself.
        static let tables = Forwarding(addsKey: true, isSandboxed: true)
    }

    /// Answers a request that the guard let through.
    func handle(_ request: Request, _ forwarding: Forwarding) -> Answer {
        if LoginAnswer.isExpected(of: request) {
            return handle(request, forwarding, at: signInPermits)
        }
        if request.bodyStream != nil { return handle(request, forwarding, at: uploadPermits) }
        return .later { reply in
            guard permits.take() else { return reply(unreachable(request, Self.overloaded)) }
            work.start { await send(request, forwarding, reply) { permits.release() } }
        }
    }

    /// Answers a request when there is a place for it.
    private func handle(
        _ request: Request, _ forwarding: Forwarding, at permits: QueuedPermits
    ) -> Answer {
        .later { reply in
            work.start {
                guard await acquiresPermit(at: permits) else {
                    return reply(unreachable(request, Self.overloaded))
                }
                await send(request, forwarding, reply) { permits.release() }
            }
        }
    }

    /// Sends a request that has a place, and answers. One that may change something at the backend is not
    /// sent once the server stops, and a stop waits for its answer.
    private func send(
        _ request: Request, _ forwarding: Forwarding, _ reply: Reply, release: @Sendable () -> Void
    ) async {
        guard Self.onlyReads(request.head.method) || reply.beginsChange() else {
            request.bodyStream?.cancel()
            return release()
        }
        let response = await response(to: request, forwarding)
        release()
        reply(response)
    }

    private static func onlyReads(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options].contains(method)
    }

    /// Waits for a place; false where too many wait, or for too long.
    func acquiresPermit(at permits: QueuedPermits) async -> Bool {
        await permits.take { try? await Task.sleep(for: .seconds(Limits.placeWaitSeconds)) }
    }

    /// Why a client is sent away.
    static let overloaded = "Too many requests wait for the backend."

    private func response(to request: Request, _ forwarding: Forwarding) async -> Response {
        guard !tenants.anonymous.backendStatus.isSwitchedOff else {
            return unreachable(request, "Offline mode is on.")
        }
        let target: String
        do throws(TablesError) { target = try self.target(of: request) } catch {
            return refused(request, error)
        }
        do throws(TransportError) {
            let response: Response
            if LoginAnswer.isExpected(of: request) {
                response = try await loginResponse(to: request, target, forwarding)
                if let login = LoginAnswer(response, of: backend) { await signIn(login, request) }
                await endRefusedToken(response, request)
            } else {
                response = try await transport.open(outgoing(request, target, forwarding))
                if LoginAnswer.isSignOut(request, response) { await signOut(request) }
                await endRefusedToken(response, request)
            }
            tenants.nudge(.reachable)
            return incoming(response, request, forwarding)
        } catch {
            tenants.nudge(.unreachable)
            return unreachable(request, "The backend cannot be reached: \(error.message)")
        }
    }

    /// The request as it goes to the backend.
    func outgoing(_ request: Request, _ target: String, _ forwarding: Forwarding) -> Request {
        var outgoing = Request(head: outgoingHead(request, target, forwarding), body: request.body)
        outgoing.bodyStream = request.bodyStream
        return outgoing
    }

    /// The client has its answer only after its token is known, since it may use it at once. Where
    /// the tenant cannot be opened, the token stays unknown and is asked about when it is used.
    private func signIn(_ login: LoginAnswer, _ request: Request) async {
        let earlier = Token(request.head.headerFields, generation: generation(request))
        _ = try? await tenants.verified(
            login.token, byLogin: true, userID: login.userID, renewing: earlier)
    }

    private func signOut(_ request: Request) async {
        guard let token = Token(request.head.headerFields, generation: generation(request)) else {
            return
        }
        await tenants.signedOut(token)
    }

    /// Ends a token that the backend refuses at an address which is about nothing else: `GET` of
    /// `/.auth/me` or `/.auth/refresh`. A 401 of a custom API may be about the API.
    private func endRefusedToken(_ response: Response, _ request: Request) async {
        let parts = request.path.split(separator: "/").map { $0.lowercased() }
        guard response.head.status == .unauthorized, request.head.method == .get,
            parts == [".auth", "me"] || parts == [".auth", "refresh"],
            let token = Token(request.head.headerFields, generation: generation(request))
        else { return }
        await tenants.refused(token)
    }

    private func generation(_ request: Request) -> Generation {
        ClientFamily.detect(request, default: defaultGeneration).generation
    }

    /// The head as the backend gets it: its own authority, the raw target behind its path, and
    /// nothing that concerns only the connection or this proxy. `Referer` is an address of this proxy,
    /// in which a capability's secret may stand.
    private func outgoingHead(
        _ request: Request, _ target: String, _ forwarding: Forwarding
    ) -> HTTPRequest {
        var head = request.head
        head.scheme = backend.scheme
        head.authority = backend.authority
        head.path = backend.prefix + target
        let length = head.headerFields[.contentLength]
        head.headerFields = cookies.outgoing(Self.endToEnd(head.headerFields))
        head.headerFields[.contentLength] = length
        head.headerFields[.understudySession] = nil
        head.headerFields[.referer] = nil
        if let generation = tenants.backendGeneration {
            // A request without any mark is no SDK's and stays as it is; PUT says nothing here.
            var marked = request
            marked.head.method = .get
            let client = Generation.detect(marked, default: generation)
            let key = forwarding.addsKey ? applicationKey.text : nil
            Dialect.translate(&head, from: client, to: generation, key: key)
        }
        return head
    }

    private func incoming(
        _ response: Response, _ request: Request, _ forwarding: Forwarding
    ) -> Response {
        var response = response
        let length = response.head.headerFields[.contentLength]
        response.head.headerFields = PassedAnswer.fields(
            cookies.incoming(Self.endToEnd(response.head.headerFields)),
            isSandboxed: forwarding.isSandboxed)
        response.head.headerFields[.contentLength] = length
        if let location = response.head.headerFields[.location] {
            response.head.headerFields[.location] =
                own(location, request, forwarding.base) ?? location
        }
        if TablePath.isTables(request.path), let link = response.head.headerFields[.link] {
            response.head.headerFields[.link] = nextLink(link, request, forwarding.base)
        }
        // The length of an answer to HEAD is that of a body that does not come.
        if request.head.method == .head, response.bytes != nil {
            let stream = ByteStream()
            stream.finish()
            response.body = .stream(stream)
        }
        return response
    }

    private func unreachable(_ request: Request, _ sentence: String) -> Response {
        refused(request, .unavailable(sentence, retryAfterSeconds: Limits.retryAfterSeconds))
    }

    private func refused(_ request: Request, _ error: TablesError) -> Response {
        // The rest of the body is not read.
        request.bodyStream?.cancel()
        let client = ClientFamily.detect(request, default: defaultGeneration)
        return TablesAnswer(client: client).render(error: error)
    }

    /// The fields without those that belong to one connection (RFC 9110, section 7.6.1) or to the
    /// framing of a message.
    static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        let named = fields[values: .connection].flatMap {
            $0[...].pieces(separatedBy: UInt8(ascii: ",")).map { $0.lowercased() }
        }
        return HTTPFields(
            fields.filter { field in
                let name = field.name.canonicalName
                return !hopByHop.contains(name) && !named.contains(name)
            })
    }

    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length",
        "host",
    ]
}
