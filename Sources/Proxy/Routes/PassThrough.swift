import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Passes requests outside of `/tables` and `/-/` through to the backend, such as custom APIs, logins and
/// push registrations, and the answers back. It records the tokens in the answers of logins.
struct PassThrough: Sendable {
    let backend: BackendAddress
    let transport: any HTTPTransport
    /// For logins, so that other requests do not delay them.
    let signInTransport: any HTTPTransport
    let tenants: TenantRegistry
    let cookies: BackendCookies
    let applicationKey: ApplicationKey
    let defaultGeneration: Generation
    let work: BackgroundWork
    /// Nil if calls of custom APIs are passed on as they are.
    let customAPIs: CustomAPIs?
    /// For requests that are complete and wait for the backend.
    let permits = ReadPermits(
        Limits.concurrentPassedRequests, checkedFrom: Limits.passedConnections)
    /// For requests whose body is still being sent.
    let uploadPermits = Permits(Limits.concurrentUploads, waiting: Limits.queuedUploads)
    /// For logins, and for the verification of tokens.
    let signInPermits = Permits(Limits.concurrentSignIns, waiting: Limits.queuedSignIns)

    /// The options of one request that is passed through.
    struct Forwarding: Sendable, Hashable {
        /// The path of the client's capability address; empty without one.
        var base = ""
        /// Whether the application key may be added. It is not for a caller that may not use `/tables`.
        var addsKey: Bool
        /// Whether a page in the answer gets a unique origin.
        var isSandboxed: Bool
        /// Whether it may be a call of a custom API that changes rows.
        var mayChangeRows = false
        /// The item of a read by id: a success without its row is no answer.
        var itemID: ItemID?

        /// The options of a request to `/tables` that the backend answers.
        static let tables = Forwarding(addsKey: true, isSandboxed: true)
    }

    /// Answers a request that the guard let through.
    func handle(_ request: Request, _ forwarding: Forwarding) -> Answer {
        if LoginAnswer.isExpected(of: request) {
            return handle(request, forwarding, with: signInPermits)
        }
        if request.bodyStream != nil { return handle(request, forwarding, with: uploadPermits) }
        return .later { reply in
            guard permits.take() else { return reply(unreachable(request, Self.overloaded)) }
            work.start {
                guard Self.onlyReads(request.head.method) else {
                    return await send(request, forwarding, reply) { permits.release() }
                }
                await permits.run(for: reply) { release in
                    await send(request, forwarding, reply, release: release)
                }
            }
        }
    }

    /// Answers a request once it has a permit.
    private func handle(
        _ request: Request, _ forwarding: Forwarding, with permits: Permits
    ) -> Answer {
        .later { reply in
            work.start {
                guard await acquirePermit(from: permits) else {
                    return reply(unreachable(request, Self.overloaded))
                }
                await send(request, forwarding, reply) { permits.release() }
            }
        }
    }

    /// Sends a request that has a permit, and answers it. A request that may change something at the
    /// backend is not sent once the server stops. A stop waits for the answer to one that was sent.
    private func send(
        _ request: Request, _ forwarding: Forwarding, _ reply: Reply, release: @Sendable () -> Void
    ) async {
        let caller = forwarding.mayChangeRows ? await customAPIs?.prepare(request) : nil
        guard Self.onlyReads(request.head.method) || reply.tryBeginChange() else {
            request.bodyStream?.cancel()
            return release()
        }
        let response = await response(to: request, forwarding)
        release()
        if let caller { customAPIs?.follow(response, of: caller) }
        reply(response)
    }

    /// Whether a method changes nothing at the backend.
    static func onlyReads(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options].contains(method)
    }

    /// Waits for a permit; false if too many requests wait, or after ``Limits/permitWaitSeconds``.
    func acquirePermit(from permits: Permits) async -> Bool {
        await permits.take { try? await Task.sleep(for: .seconds(Limits.permitWaitSeconds)) }
    }

    /// The sentence of the answer without a permit.
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
            } else if let id = forwarding.itemID {
                response = try await transport.send(outgoing(request, target, forwarding))
                let refusal = ForwardedRead.refusal(
                    of: response, to: id, generation: generation(request))
                if let refusal { return unreachable(request, refusal) }
            } else {
                let sent = outgoing(request, target, forwarding)
                // The answer to a write is judged, so it is read to its end.
                let isJudged = forwarding == .tables && !Self.onlyReads(request.head.method)
                response =
                    isJudged ? try await transport.send(sent) : try await transport.open(sent)
                if LoginAnswer.isSignOut(request, response) { await signOut(request) }
                await endRefusedToken(response, request)
            }
            tenants.nudge(.reachable)
            if wantsHTTPS(response, request) {
                if case .stream(let unsent) = response.body { unsent.cancel() }
                let authority = Self.withoutPort(backend.authority[...])
                return badGateway(
                    request,
                    "The backend wants https: start with --backend "
                        + "https://\(authority)\(backend.prefix)")
            }
            if forwarding == .tables, Later.isOfGateway(response.head) {
                if case .stream(let unread) = response.body { unread.cancel() }
                let wait = response.head.headerFields[.retryAfter]
                var later = unreachable(request, Later.reason(response.head.status.code))
                if let wait { later.head.headerFields[.retryAfter] = wait }
                return later
            }
            return incoming(response, request, forwarding)
        } catch {
            // A cancelled request says nothing about the backend.
            if error.cause != .cancelled { tenants.nudge(.unreachable) }
            return unanswered(request, error)
        }
    }

    /// The answer where none came from the backend. A client repeats a 503 with `Retry-After`, so a request
    /// that the backend may have acted on gets 502, and so does one whose answer is too long each time.
    private func unanswered(_ request: Request, _ error: TransportError) -> Response {
        if error.reach == .maybeSent, !Self.onlyReads(request.head.method) {
            return badGateway(
                request,
                "The backend's answer to the request did not come (\(error.message)). Look whether "
                    + "it was done before you send it again.")
        }
        if error.reach == .maybeSent, error.cause == .tooLarge {
            return badGateway(
                request, "The backend's answer cannot be passed on: \(error.message)")
        }
        return unreachable(request, "The backend cannot be reached: \(error.message)")
    }

    /// The request as the backend gets it.
    func outgoing(_ request: Request, _ target: String, _ forwarding: Forwarding) -> Request {
        var outgoing = Request(head: outgoingHead(request, target, forwarding), body: request.body)
        outgoing.bodyStream = request.bodyStream
        return outgoing
    }

    /// Records the token of a login before the client gets the answer, since the client may use it at once.
    /// If the tenant cannot be opened, the token stays unknown, and is verified when it is used.
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

    /// Removes a token that the backend refuses for `GET` of `/.auth/me` or `/.auth/refresh`. A 401 of a
    /// custom API may have another reason.
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

    /// The head as the backend gets it: with the backend's authority, the raw target after the backend's
    /// path, and without fields for the connection or for this proxy. `Referer` is left out: it is an
    /// address of this proxy, and may have a capability's secret in it.
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
            // A request without a sign of an SDK is not translated. PUT is no such sign here, so GET is used.
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
        let isChunked = response.head.headerFields[.transferEncoding] != nil
        response.head.headerFields = PassedAnswer.fields(
            cookies.incoming(Self.endToEnd(response.head.headerFields)),
            isSandboxed: forwarding.isSandboxed)
        // The length of a chunked body is that of its chunks (RFC 9112, section 6.3).
        if !isChunked { response.head.headerFields[.contentLength] = length }
        if let location = response.head.headerFields[.location] {
            response.head.headerFields[.location] =
                ownLocation(location, request, forwarding.base) ?? location
        }
        if TablePath.isTables(request.path), let link = response.head.headerFields[.link] {
            response.head.headerFields[.link] = nextLink(link, request, forwarding.base)
        }
        // An answer to HEAD has the length of a body that is not sent.
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

    private func badGateway(_ request: Request, _ sentence: String) -> Response {
        refused(request, .refusedByBackend(status: 502, sentence))
    }

    func refused(_ request: Request, _ error: TablesError) -> Response {
        // The rest of the body is not read.
        request.bodyStream?.cancel()
        let client = ClientFamily.detect(request, default: defaultGeneration)
        return TablesAnswer(client: client).render(error: error)
    }

    /// The fields without those of one connection (RFC 9110, section 7.6.1) and of a message's framing.
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

// Addresses that differ between client and backend: those for logins and push of other generations, and the
// backend's own address in its answers.
extension PassThrough {
    /// The target of a request at the backend.
    ///
    /// 1. Logins: in the form of the backend's generation, once that is known.
    /// 2. Push: an installation of one generation cannot be translated to registrations of another. It
    ///    stands for all registrations of a device, and this program does not know all of them.
    /// 3. Any other target is unchanged.
    func target(of request: Request) throws(TablesError) -> String {
        let target = request.head.path ?? "/"
        guard let generation = tenants.backendGeneration else { return target }
        if let address = LoginAddress(target: target) {
            let form = LoginAddress.Form(of: generation)
            return address.form == form
                ? target : try address.target(in: form, isBrowser: request.head.method == .get)
        }
        let parts = request.path.split(separator: "/").prefix(2).map { $0.lowercased() }
        switch (parts, generation) {
        case (["push", "registrations"], .mobileApps), (["push", "registrationids"], .mobileApps):
            throw .untranslatable(
                "The backend is of Mobile Apps, which knows installations and no registrations "
                    + "for push: the device cannot be registered.")
        case (["push", "installations"], .mobileServices):
            throw .untranslatable(
                "The backend is of Mobile Services, which knows registrations and no "
                    + "installations for push: the device cannot be registered.")
        case _: return target
        }
    }

    /// Sends a login request. While the backend's generation is not known, a request that is answered 404
    /// is sent again in the other form. The first one changed nothing.
    func loginResponse(
        to request: Request, _ target: String, _ forwarding: Forwarding
    ) async throws(TransportError) -> Response {
        let response = try await signInTransport.send(outgoing(request, target, forwarding))
        guard tenants.backendGeneration == nil, response.head.status == .notFound,
            let address = LoginAddress(target: target),
            let other = try? address.target(
                in: address.form.other, isBrowser: request.head.method == .get)
        else { return response }
        let second = try await signInTransport.send(outgoing(request, other, forwarding))
        return second.head.status == .notFound ? response : second
    }

    /// An address of the backend in `Location` as one of this proxy, so that the client stays at the proxy.
    /// The end of a login gets the form that the client waits for. A path alone stays one, unless a client
    /// would take it for the name of a server.
    /// - Returns: nil for any other address.
    func ownLocation(_ location: String, _ request: Request, _ base: String) -> String? {
        guard let host = request.head.authority, var path = ownPath(of: location) else {
            return nil
        }
        let form = LoginAddress(target: request.head.path ?? "/")?.form
        if let form, path.hasPrefix("\(form.other.donePath)#") {
            path = form.donePath + String(path.dropFirst(form.other.donePath.count))
        }
        let own = "\(base)\(path)"
        return Self.isPath(location) && Self.isPath(own) ? own : "http://\(host)\(own)"
    }

    /// Whether the backend sends a client from `http` to the same address with `https`, to send its request
    /// again. At this proxy that is the address that the client has just asked for, so it would be sent there
    /// without end. A write that was done is answered with another status, and its answer is passed on.
    func wantsHTTPS(_ response: Response, _ request: Request) -> Bool {
        let repeating =
            Self.onlyReads(request.head.method) ? [301, 302, 303, 307, 308] : [307, 308]
        guard backend.scheme == "http", repeating.contains(response.head.status.code),
            let location = response.head.headerFields[.location],
            location.lowercased().hasPrefix("https://")
        else { return false }
        return ownPath(of: location) == request.head.path
    }

    /// The path and query that an address of the backend has at this proxy; nil for any other address.
    private func ownPath(of location: String) -> String? {
        if Self.isPath(location) { return withoutPrefix(location[...]) }
        let scheme = location.firstRange(of: "//")
        guard let scheme,
            ["", "http:", "https:"].contains(location[..<scheme.lowerBound].lowercased())
        else { return nil }
        let rest = location[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard Self.withoutPort(rest[..<end]) == Self.withoutPort(backend.authority[...]) else {
            return nil
        }
        return withoutPrefix(rest[end...])
    }

    /// Whether a location is a path at the server that was asked. After two slashes the name of a server
    /// follows; browsers take a backslash for a slash.
    private static func isPath(_ location: String) -> Bool {
        location.hasPrefix("/") && !["//", "/\\"].contains { location.hasPrefix($0) }
    }

    /// A path without that of the backend's address, beginning with a slash; nil for one that is not below it.
    private func withoutPrefix(_ path: Substring) -> String? {
        guard path.lowercased().hasPrefix(backend.prefix.lowercased()) else { return nil }
        let rest = String(path.dropFirst(backend.prefix.count))
        if rest.hasPrefix("/") { return rest }
        return rest.first.map { "?#".contains($0) } ?? true ? "/" + rest : nil
    }

    /// An authority in lowercase, without port 80 or 443.
    static func withoutPort(_ authority: Substring) -> String {
        let text = authority.lowercased()
        let port = [":80", ":443"].first { text.hasSuffix($0) }
        return String(text.dropLast(port?.count ?? 0))
    }

    /// The link to the next page of a list that was passed through, with the address that the client used.
    /// Of the backend's link only the query is taken, since some backends leave out port or path.
    func nextLink(_ link: String, _ request: Request, _ base: String) -> String {
        guard let host = request.head.authority,
            let match = link.wholeMatch(of: /<?[^?>]*\?(?<query>[^>;]*)>?;\s*rel="?next"?\s*/)
        else { return link }
        return "http://\(host)\(base)\(request.path)?\(match.query); rel=next"
    }
}

extension HTTPField.Name {
    static let link = known("Link")
}
