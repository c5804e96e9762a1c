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
    let homes: Homes
    let cookies: BackendCookies
    let applicationKey: ApplicationKey
    let defaultGeneration: Generation
    let work: BackgroundWork
    /// The places for clients that wait for the backend and have sent all that they send.
    let places = Places(Limits.requestsAtBackend)
    /// The places for those that send a body meanwhile, as slowly as they like.
    let uploads = WaitingPlaces(Limits.uploadsAtBackend, waiting: Limits.uploadsWaiting)
    /// The places for signing in, and for tokens that the backend is asked about.
    let signIns = WaitingPlaces(Limits.signInsAtBackend, waiting: Limits.signInsWaiting)

    /// What holds for one request that is passed on.
    struct Terms: Sendable, Hashable {
        /// The path of the client's capability address; empty for the plain one.
        var base = ""
        /// Whether the operator's application key may be added: not for a caller that may not use
        /// `/tables`.
        var addsKey: Bool
        /// Whether a page in the answer gets an origin of its own.
        var isSandboxed: Bool

        /// For a request to `/tables` that the backend has to answer itself.
        static let tables = Terms(addsKey: true, isSandboxed: true)
    }

    /// Answers a request that the guard let through.
    func handle(_ request: Request, _ terms: Terms) -> Answer {
        if LoginAnswer.isExpected(of: request) { return handle(request, terms, at: signIns) }
        if request.bodyStream != nil { return handle(request, terms, at: uploads) }
        return .later { reply in
            guard places.take() else { return reply(unreachable(request, Self.crowded)) }
            work.start { await send(request, terms, reply) { places.giveBack() } }
        }
    }

    /// Answers a request when there is a place for it.
    private func handle(
        _ request: Request, _ terms: Terms, at places: WaitingPlaces
    ) -> Answer {
        .later { reply in
            work.start {
                guard await takesPlace(at: places) else {
                    return reply(unreachable(request, Self.crowded))
                }
                await send(request, terms, reply) { places.giveBack() }
            }
        }
    }

    /// Sends a request that has a place, and answers. One that may change something at the backend is not
    /// sent once the server stops, and a stop waits for its answer.
    private func send(
        _ request: Request, _ terms: Terms, _ reply: Reply, giveBack: @Sendable () -> Void
    ) async {
        guard Self.onlyReads(request.head.method) || reply.beginsChange() else {
            request.bodyStream?.cancel()
            return giveBack()
        }
        let response = await response(to: request, terms)
        giveBack()
        reply(response)
    }

    private static func onlyReads(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options].contains(method)
    }

    /// Waits for a place; false where too many wait, or for too long.
    func takesPlace(at places: WaitingPlaces) async -> Bool {
        await places.take { try? await Task.sleep(for: .seconds(Limits.placeWaitSeconds)) }
    }

    /// Why a client is sent away.
    static let crowded = "Too many requests wait for the backend."

    private func response(to request: Request, _ terms: Terms) async -> Response {
        guard !homes.nobody.board.isSwitchedOff else {
            return unreachable(request, "Offline mode is on.")
        }
        let target: String
        do throws(TablesError) { target = try self.target(of: request) } catch {
            return refused(request, error)
        }
        do throws(TransportError) {
            let response: Response
            if LoginAnswer.isExpected(of: request) {
                response = try await loginResponse(to: request, target, terms)
                if let login = LoginAnswer(response, of: backend) { await signIn(login, request) }
                await heed(response, request)
            } else {
                response = try await transport.open(outgoing(request, target, terms))
                if LoginAnswer.isSignOut(request, response) { await signOut(request) }
                await heed(response, request)
            }
            homes.nudge(.reachable)
            return incoming(response, request, terms)
        } catch {
            homes.nudge(.unreachable)
            return unreachable(request, "The backend cannot be reached: \(error.message)")
        }
    }

    /// The request as it goes to the backend.
    func outgoing(_ request: Request, _ target: String, _ terms: Terms) -> Request {
        var outgoing = Request(head: outgoingHead(request, target, terms), body: request.body)
        outgoing.bodyStream = request.bodyStream
        return outgoing
    }

    /// The client has its answer only after its token is known, since it may use it at once. Where
    /// the home cannot be opened, the token stays unknown and is asked about when it is used.
    private func signIn(_ login: LoginAnswer, _ request: Request) async {
        let earlier = Token(request.head.headerFields, generation: generation(request))
        _ = try? await homes.vouched(
            for: login.token, byLogin: true, userID: login.userID, renewing: earlier)
    }

    private func signOut(_ request: Request) async {
        guard let token = Token(request.head.headerFields, generation: generation(request)) else {
            return
        }
        await homes.signedOut(token)
    }

    /// Ends a token that the backend refuses at an address which is about nothing else: `GET` of
    /// `/.auth/me` or `/.auth/refresh`. A 401 of a custom API may be about the API.
    private func heed(_ response: Response, _ request: Request) async {
        let parts = request.path.split(separator: "/").map { $0.lowercased() }
        guard response.head.status == .unauthorized, request.head.method == .get,
            parts == [".auth", "me"] || parts == [".auth", "refresh"],
            let token = Token(request.head.headerFields, generation: generation(request))
        else { return }
        await homes.refused(token)
    }

    private func generation(_ request: Request) -> Generation {
        ClientFamily.detect(request, default: defaultGeneration).generation
    }

    /// The head as the backend gets it: its own authority, the raw target behind its path, and
    /// nothing that concerns only the connection or this proxy. `Referer` is an address of this proxy,
    /// in which a capability's secret may stand.
    private func outgoingHead(
        _ request: Request, _ target: String, _ terms: Terms
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
        if let generation = homes.backendGeneration {
            // A request without any mark is no SDK's and stays as it is; PUT says nothing here.
            var marked = request
            marked.head.method = .get
            let client = Generation.detect(marked, default: generation)
            let key = terms.addsKey ? applicationKey.text : nil
            Dialect.translate(&head, from: client, to: generation, key: key)
        }
        return head
    }

    private func incoming(
        _ response: Response, _ request: Request, _ terms: Terms
    ) -> Response {
        var response = response
        let length = response.head.headerFields[.contentLength]
        response.head.headerFields = PassedAnswer.fields(
            cookies.incoming(Self.endToEnd(response.head.headerFields)),
            isSandboxed: terms.isSandboxed)
        response.head.headerFields[.contentLength] = length
        if let location = response.head.headerFields[.location] {
            response.head.headerFields[.location] = own(location, request, terms.base) ?? location
        }
        if TablePath.isTables(request.path), let link = response.head.headerFields[.link] {
            response.head.headerFields[.link] = nextLink(link, request, terms.base)
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
        // Nobody takes the rest of the body.
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
