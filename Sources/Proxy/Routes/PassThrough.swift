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

    /// Learns the application key that a first generation client sends. With a new key, operations that the
    /// backend has refused without it are sent again.
    func learnKey(_ request: Request) {
        let isRefused = tenants.anonymous.backendStatus.isSignedOut
        guard applicationKey.learn(request.head.headerFields, isRefused: isRefused) else { return }
        tenants.nudge(.signedIn)
    }

    /// Answers a request that the guard let through.
    func handle(_ forwarded: ForwardedRequest) -> Answer {
        let request = forwarded.request
        if LoginAnswer.isExpected(of: request) { return handle(forwarded, with: signInPermits) }
        if request.bodyStream != nil { return handle(forwarded, with: uploadPermits) }
        return .later { reply in
            guard permits.take() else { return reply(forwarded.refused(Self.tooManyWait)) }
            work.start {
                guard forwarded.onlyReads else {
                    return await send(forwarded, reply) { permits.release() }
                }
                await permits.run(for: reply) { release in
                    await send(forwarded, reply, release: release)
                }
            }
        }
    }

    /// Answers a request once it has a permit.
    private func handle(_ forwarded: ForwardedRequest, with permits: Permits) -> Answer {
        .later { reply in
            work.start {
                guard await acquirePermit(from: permits) else {
                    return reply(forwarded.refused(Self.tooManyWait))
                }
                await send(forwarded, reply) { permits.release() }
            }
        }
    }

    /// Sends a request that has a permit, and answers it. A request that may change something at the
    /// backend is not sent once the server stops. A stop waits for the answer to one that was sent.
    private func send(
        _ forwarded: ForwardedRequest, _ reply: Reply, release: @Sendable () -> Void
    ) async {
        let caller = forwarded.mayChangeRows ? await customAPIs?.prepare(forwarded) : nil
        guard forwarded.onlyReads || reply.tryBeginChange() else {
            forwarded.request.bodyStream?.cancel()
            return release()
        }
        let response = await response(to: forwarded)
        release()
        if let caller { customAPIs?.follow(response, of: caller) }
        reply(response)
    }

    /// Waits for a permit; false if too many requests wait, or after ``Limits/permitWaitSeconds``.
    func acquirePermit(from permits: Permits) async -> Bool {
        await permits.take { try? await Task.sleep(for: .seconds(Limits.permitWaitSeconds)) }
    }

    /// The error without a permit.
    static let tooManyWait = TablesError.unavailable(
        "Too many requests wait for the backend.", retryAfterSeconds: Limits.retryAfterSeconds)

    private func response(to forwarded: ForwardedRequest) async -> Response {
        guard !tenants.anonymous.backendStatus.isSwitchedOff else {
            return forwarded.unavailable("Offline mode is on.")
        }
        let request = forwarded.request
        let target: String
        do throws(TablesError) { target = try self.target(of: forwarded) } catch {
            return forwarded.refused(error)
        }
        do throws(TransportError) {
            let response: Response
            if LoginAnswer.isExpected(of: request) {
                response = try await loginResponse(to: forwarded, target)
                if let login = LoginAnswer(response, of: backend) {
                    // The client may use the token at once. If the tenant cannot be opened, the token stays
                    // unknown, and is verified when it is used.
                    _ = try? await tenants.verified(
                        login.token, byLogin: true, userID: login.userID,
                        renewing: forwarded.token)
                }
                await endRefusedToken(response, forwarded)
            } else if let id = forwarded.itemID {
                response = try await transport.send(outgoing(forwarded, target))
                let refusal = ForwardedRead.refusal(
                    of: response, to: id, generation: forwarded.client.generation)
                if let refusal { return forwarded.unavailable(refusal) }
            } else {
                let sent = outgoing(forwarded, target)
                // The answer to a write is judged, so it is read to its end.
                let isJudged = forwarded.isOfTable && !forwarded.onlyReads
                response =
                    isJudged ? try await transport.send(sent) : try await transport.open(sent)
                if LoginAnswer.isSignOut(request, response), let token = forwarded.token {
                    await tenants.signedOut(token)
                }
                await endRefusedToken(response, forwarded)
            }
            tenants.nudge(.reachable)
            if wantsHTTPS(response, forwarded) {
                if case .stream(let unsent) = response.body { unsent.cancel() }
                let authority = Self.withoutPort(backend.authority[...])
                return forwarded.badGateway(
                    "The backend wants https: start with --backend "
                        + "https://\(authority)\(backend.prefix)")
            }
            if forwarded.isOfTable, Later.isOfGateway(response.head) {
                if case .stream(let unread) = response.body { unread.cancel() }
                let wait = response.head.headerFields[.retryAfter]
                var later = forwarded.unavailable(Later.reason(response.head.status.code))
                if let wait { later.head.headerFields[.retryAfter] = wait }
                return later
            }
            return incoming(response, forwarded)
        } catch {
            // A cancelled request says nothing about the backend.
            if error.cause != .cancelled { tenants.nudge(.unreachable) }
            return forwarded.unanswered(error)
        }
    }

    /// Removes a token that the backend refuses for `GET` of `/.auth/me` or `/.auth/refresh`. A 401 of a
    /// custom API may have another reason.
    private func endRefusedToken(_ response: Response, _ forwarded: ForwardedRequest) async {
        guard response.head.status == .unauthorized, forwarded.request.head.method == .get,
            [[".auth", "me"], [".auth", "refresh"]].contains(forwarded.segments),
            let token = forwarded.token
        else { return }
        await tenants.refused(token)
    }

    /// The request as the backend gets it: with the backend's authority, the raw target after the backend's
    /// path, and without fields for the connection or for this proxy. `Referer` is left out: it is an
    /// address of this proxy, and may have a capability's secret in it.
    private func outgoing(_ forwarded: ForwardedRequest, _ target: String) -> Request {
        let request = forwarded.request
        var head = request.head
        head.scheme = backend.scheme
        head.authority = backend.authority
        head.path = backend.prefix + target
        let length = head.headerFields[.contentLength]
        head.headerFields = cookies.outgoing(Self.endToEnd(head.headerFields))
        head.headerFields[.contentLength] = length
        head.headerFields[own: .session] = nil
        head.headerFields[.referer] = nil
        if let generation = tenants.backendGeneration {
            // A request without a sign of an SDK is not translated. PUT is no such sign here, so GET is used.
            var marked = request
            marked.head.method = .get
            let client = Generation.detect(marked, default: generation)
            let key = forwarded.addsKey ? applicationKey.text : nil
            Dialect.translate(&head, from: client, to: generation, key: key)
        }
        var outgoing = Request(head: head, body: request.body)
        outgoing.bodyStream = request.bodyStream
        return outgoing
    }

    private func incoming(_ response: Response, _ forwarded: ForwardedRequest) -> Response {
        let request = forwarded.request
        var response = response
        var fields = PassedAnswer.fields(
            cookies.incoming(Self.endToEnd(response.head.headerFields)),
            isSandboxed: forwarded.isSandboxed)
        // The length of a chunked body is that of its chunks (RFC 9112, section 6.3).
        if response.head.headerFields[.transferEncoding] == nil {
            fields[.contentLength] = response.head.headerFields[.contentLength]
        }
        if let location = fields[.location] {
            fields[.location] = ownLocation(location, forwarded) ?? location
        }
        if TablePath.isTables(request.path), let link = fields[.link] {
            fields[.link] = nextLink(link, forwarded)
        }
        response.head.headerFields = fields
        // An answer to HEAD has the length of a body that is not sent.
        if request.head.method == .head, response.bytes != nil {
            let stream = ByteStream()
            stream.finish()
            response.body = .stream(stream)
        }
        return response
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
    private func target(of forwarded: ForwardedRequest) throws(TablesError) -> String {
        let request = forwarded.request
        let target = request.head.path ?? "/"
        guard let generation = tenants.backendGeneration else { return target }
        if let address = LoginAddress(target: target) {
            let form = LoginAddress.Form(of: generation)
            return address.form == form
                ? target : try address.target(in: form, isBrowser: request.head.method == .get)
        }
        switch (Array(forwarded.segments.prefix(2)), generation) {
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
    private func loginResponse(
        to forwarded: ForwardedRequest, _ target: String
    ) async throws(TransportError) -> Response {
        let response = try await signInTransport.send(outgoing(forwarded, target))
        guard tenants.backendGeneration == nil, response.head.status == .notFound,
            let address = LoginAddress(target: target),
            let other = try? address.target(
                in: address.form.other, isBrowser: forwarded.request.head.method == .get)
        else { return response }
        let second = try await signInTransport.send(outgoing(forwarded, other))
        return second.head.status == .notFound ? response : second
    }

    /// An address of the backend in `Location` as one of this proxy, so that the client stays at the proxy.
    /// The end of a login gets the form that the client waits for. A path alone stays one, unless a client
    /// would take it for the name of a server.
    /// - Returns: nil for any other address.
    private func ownLocation(_ location: String, _ forwarded: ForwardedRequest) -> String? {
        let head = forwarded.request.head
        guard let host = head.authority, var path = ownPath(of: location) else { return nil }
        let form = LoginAddress(target: head.path ?? "/")?.form
        if let form, path.hasPrefix("\(form.other.donePath)#") {
            path = form.donePath + String(path.dropFirst(form.other.donePath.count))
        }
        let own = "\(forwarded.base)\(path)"
        return Self.isPath(location) && Self.isPath(own) ? own : "http://\(host)\(own)"
    }

    /// Whether the backend sends a client from `http` to the same address with `https`, to send its request
    /// again. At this proxy that is the address that the client has just asked for, so it would be sent there
    /// without end. A write that was done is answered with another status, and its answer is passed on.
    private func wantsHTTPS(_ response: Response, _ forwarded: ForwardedRequest) -> Bool {
        let repeating = forwarded.onlyReads ? [301, 302, 303, 307, 308] : [307, 308]
        guard backend.scheme == "http", repeating.contains(response.head.status.code),
            let location = response.head.headerFields[.location],
            location.lowercased().hasPrefix("https://")
        else { return false }
        return ownPath(of: location) == forwarded.request.head.path
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
    private static func withoutPort(_ authority: Substring) -> String {
        let text = authority.lowercased()
        let port = [":80", ":443"].first { text.hasSuffix($0) }
        return String(text.dropLast(port?.count ?? 0))
    }

    /// The link to the next page of a list that was passed through, with the address that the client used.
    /// Of the backend's link only the query is taken, since some backends leave out port or path.
    private func nextLink(_ link: String, _ forwarded: ForwardedRequest) -> String {
        guard let host = forwarded.request.head.authority,
            let match = link.wholeMatch(of: /<?[^?>]*\?(?<query>[^>;]*)>?;\s*rel="?next"?\s*/)
        else { return link }
        return "http://\(host)\(forwarded.base)\(forwarded.request.path)?\(match.query); rel=next"
    }
}
