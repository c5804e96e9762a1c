import HTTPMessage
import HTTPTypes
import Platform
import TablesProtocol

/// Checks the head of every request before the store or the backend is used.
struct Guard: Sendable {
    /// The rules; a reload replaces them.
    let currentRules: CurrentRules
    let access: OperatorAccess
    let capabilities: Capabilities

    /// Makes a guard.
    /// - Parameter dashboardPort: the dashboard's own port; nil when it shares the clients' port.
    init(
        rules: GuardRules, access: OperatorAccess, capabilities: Capabilities,
        dashboardPort: UInt16? = nil
    ) {
        currentRules = CurrentRules(rules, dashboardPort: dashboardPort)
        self.access = access
        self.capabilities = capabilities
    }

    /// The rules now, as the worker of `request` has them.
    func rules(_ request: Request) -> GuardRules {
        currentRules.snapshot(worker: request.connection.worker)
    }

    /// Checks the head of a request, in this order:
    /// 1. the connection came in on a loopback address or on the Unix socket;
    /// 2. the method is known, and the request is not for a service worker's script;
    /// 3. Host names this server, with its port (not on the Unix socket, which has no host name);
    /// 4. the path can be decoded, after the removal of a capability address; it decides the space;
    /// 5. no header overrides the method (not for requests that are passed through);
    /// 6. an announced body is within the limit;
    /// 7. the request is not from a page of another origin, and its target contains no secret of this
    ///    program;
    /// 8. with two ports, it came in at the right one;
    /// 9. a preflight of a listed origin is answered;
    /// 10. a capability address is valid, and `/tables` is called at one if the rules require it;
    /// 11. the caller of the operator API is signed in;
    /// 12. a body is JSON (not for requests that are passed through).
    func check(_ asked: AddressedRequest) -> GuardDecision {
        let request = asked.request
        if let refusal = addressRefusal(request) ?? methodRefusal(request)
            ?? workerRefusal(request) ?? hostRefusal(request)
        {
            return .refuse(refusal, nil)
        }
        let (path, space): (TargetPath, Space)
        switch asked.place {
        case .success(let place): (path, space) = (place.path, place.space)
        case .failure(let error): return .refuse(Refusal(.target, error.sentence), nil)
        }
        let content = asked.contentSpace(space)
        if let refusal = overrideRefusal(request, content) ?? boundsRefusal(request, content)
            ?? originRefusal(request, space, path) ?? secretRefusal(asked, space, path)
        {
            return .refuse(refusal, space)
        }
        if let decision = portDecision(request, content, path) { return decision }
        if let answer = preflightAnswer(request, space) { return .answer(answer) }
        if let refusal = capabilityRefusal(asked, space) ?? signInRefusal(request, space)
            ?? readOnlyRefusal(asked, space) ?? contentTypeRefusal(request, content)
        {
            return .refuse(refusal, space)
        }
        return .pass(space)
    }

    /// The most bytes of body that a request to `space` may have.
    func bodyLimitBytes(_ space: Space) -> Int {
        switch space {
        case .tables: Limits.tablesBodyBytes
        case .operatorAPI: Limits.operatorBodyBytes
        case .other: Limits.passedBodyBytes
        }
    }

    private func addressRefusal(_ request: Request) -> Refusal? {
        let address = request.connection.localAddress
        guard
            address == "::1" || address.hasPrefix("127.") || address == Connection.unixSocket
        else {
            return Refusal(
                .address, "This server answers only on the loopback addresses of its machine.",
                detail: address)
        }
        return nil
    }

    private func methodRefusal(_ request: Request) -> Refusal? {
        switch request.head.method {
        case .get, .head, .post, .put, .patch, .delete, .options: nil
        default: Refusal(.method, "The method \(request.head.method) is not known here.")
        }
    }

    /// Refuses the request for a service worker's script, which browsers mark. A worker would answer in the
    /// place of this server for as long as the browser keeps it. The dashboard has none.
    private func workerRefusal(_ request: Request) -> Refusal? {
        guard request.head.headerFields.contains(.serviceWorker) else { return nil }
        return Refusal(
            .serviceWorker, "A page at this address cannot have a service worker: remove it there.")
    }

    private func hostRefusal(_ request: Request) -> Refusal? {
        let host = request.head.authority ?? ""
        if request.connection.localAddress == Connection.unixSocket { return nil }
        if rules(request).allowsHost(host, port: request.connection.localPort) { return nil }
        return Refusal(
            .host,
            "This server is not called \"\(host)\". If it should be, start it with --allow-host "
                + "and that name with its port.", detail: host)
    }

    private func overrideRefusal(_ request: Request, _ space: Space) -> Refusal? {
        let fields = request.head.headerFields
        guard space != .other,
            let name = HTTPField.Name.methodOverrides.first(where: { fields[$0] != nil })
        else { return nil }
        return Refusal(.methodOverride, "\(name) is not accepted; send the method itself.")
    }

    private func boundsRefusal(_ request: Request, _ space: Space) -> Refusal? {
        guard let length = request.announcedBytes, length > bodyLimitBytes(space) else {
            return nil
        }
        return Refusal(.tooLarge, "A body here has at most \(bodyLimitBytes(space)) bytes.")
    }

    /// Whether a caller may use `/tables`. At a capability address: if the address is valid. At the plain
    /// address: any caller if access is open, otherwise only one on the Unix socket, or signed in as the
    /// operator.
    func mayUseTables(_ asked: AddressedRequest) -> Bool {
        if let secret = asked.secret { return capabilities.name(of: secret) != nil }
        return rules(asked.request).tablesAccess == .open
            || asked.request.connection.localAddress == Connection.unixSocket
            || access.caller(asked.request) != nil
    }

    private func capabilityRefusal(_ asked: AddressedRequest, _ space: Space) -> Refusal? {
        guard let secret = asked.secret else {
            if space != .tables || mayUseTables(asked) { return nil }
            return Refusal(
                .capability,
                "A client needs an address of its own here; make one with `understudy access add "
                    + "NAME`.")
        }
        guard let name = capabilities.name(of: secret) else {
            return Refusal(
                .capability,
                "This address was revoked or never was; make one with `understudy access add "
                    + "NAME`.")
        }
        if case .operatorAPI = space {
            return Refusal(
                .capability, "The address of a client leads to /tables, not to the dashboard.",
                detail: name)
        }
        return nil
    }

    private func signInRefusal(_ request: Request, _ space: Space) -> Refusal? {
        guard space == .operatorAPI(.api), access.caller(request) == nil else { return nil }
        return Refusal(
            .signIn,
            "Sign in: open the link that `understudy open` makes, or send the token of the file "
                + "operator.token as `Authorization: Bearer`.")
    }

    /// Refuses what a read-only sign-in of the dashboard may not do: all but reads, signing in or out, and the
    /// question where operations are.
    private func readOnlyRefusal(_ asked: AddressedRequest, _ space: Space) -> Refusal? {
        let method = asked.request.head.method
        guard asked.request.head.headerFields.contains(OwnHeader.session.name),
            ![.get, .head, .options].contains(method), space != .operatorAPI(.signIn),
            case .session(let session) = access.caller(asked.request), session.isReadOnly
        else { return nil }
        let path = (try? asked.place.get())?.path.segments.dropFirst(3) ?? []
        if space == .operatorAPI(.api),
            path == ["session"] || path == ["operations", "outcomes"]
        {
            return nil
        }
        return Refusal(
            .readOnly, "This sign-in may only look: `understudy open` makes a link that may change."
        )
    }

    private func contentTypeRefusal(_ request: Request, _ space: Space) -> Refusal? {
        guard space != .other, [.post, .put, .patch].contains(request.head.method) else {
            return nil
        }
        let type = request.head.headerFields[.contentType] ?? ""
        // An empty field counts as a missing one.
        if !type.allSatisfy({ $0 == " " || $0 == "\t" }) {
            return MediaType(type).isJSON
                ? nil : Refusal(.contentType, "A body here is application/json, not \(type).")
        }
        let isAnnounced =
            request.head.headerFields[.transferEncoding] != nil || request.announcedBytes ?? 0 > 0
        guard space != .tables, isAnnounced else { return nil }
        return Refusal(.contentType, "Say Content-Type: application/json.")
    }
}

/// The result of ``Guard/check(_:)``.
enum GuardDecision: Sendable {
    /// The request is routed.
    case pass(Space)
    /// The guard answers the request, such as a preflight.
    case answer(Response)
    /// The request is refused; the space is nil if it is not known yet.
    case refuse(Refusal, Space?)
}

extension Guard {
    enum PortRole: Sendable, Hashable {
        /// The one port for clients and dashboard, or the Unix socket, which no browser opens.
        case shared
        /// The clients' port, if the dashboard has its own.
        case clients
        /// The dashboard's own port.
        case dashboard
    }

    func portRole(_ connection: Connection) -> PortRole {
        guard let port = currentRules.dashboardPort,
            connection.localAddress != Connection.unixSocket
        else {
            return .shared
        }
        return connection.localPort == port ? .dashboard : .clients
    }

    /// Separates the two ports, so that the backend's pages and the dashboard never share an origin.
    /// 1. The clients' port has no files of the dashboard and no sign-in: `/-/` redirects to the other port.
    ///    Health, metrics and the operator API with its token are at both ports.
    /// 2. At the dashboard's port nothing is passed through to the backend.
    /// - Returns: nil for a request at the right port.
    func portDecision(_ request: Request, _ space: Space, _ path: TargetPath) -> GuardDecision? {
        switch (portRole(request.connection), space) {
        case (.clients, .operatorAPI(.page)):
            let isIndex = path.segments == ["-"] || path.segments == ["-", ""]
            return isIndex ? .answer(dashboardRedirect(request)) : .refuse(wrongPort(space), space)
        case (.clients, .operatorAPI(.signIn)): return .refuse(wrongPort(space), space)
        case (.dashboard, .other) where !path.segments.isEmpty:
            return .refuse(wrongPort(space), space)
        case (.shared, _), (.clients, _), (.dashboard, _): return nil
        }
    }

    private func dashboardRedirect(_ request: Request) -> Response {
        let called = request.head.authority ?? ""
        let name = called.utf8.lastIndex(of: UInt8(ascii: ":")).map { called[..<$0] } ?? called[...]
        return Response(
            status: .found,
            headerFields: OperatorHeaders.added(to: [
                .location: "http://\(name):\(currentRules.dashboardPort ?? 0)/-/",
                .cacheControl: "no-store",
            ]))
    }

    private func wrongPort(_ space: Space) -> Refusal {
        Refusal(
            .port,
            space == .other
                ? "At the dashboard's port nothing is passed on to the backend: use the port of --listen."
                : "The dashboard has a port of its own: use the port of --dashboard-listen.")
    }
}

extension Guard {
    /// Refuses a request of a page of another origin. Programs send neither Origin nor Sec-Fetch-Site.
    /// Browsers send at least one of them, except for an address that a person typed.
    func originRefusal(_ request: Request, _ space: Space, _ path: TargetPath) -> Refusal? {
        let origin = request.head.headerFields[.origin]
        let site = request.head.headerFields[.secFetchSite]
        if let origin, isListed(origin, for: space, request) { return nil }
        if isEndOfLogin(request, path) { return nil }
        if let origin, origin != "http://\(request.head.authority ?? "")" {
            return crossOrigin(origin)
        }
        switch site {
        case nil, "same-origin", "none": return nil
        default:
            if site == "cross-site" || site == "same-site", isOpenNavigation(request, path) {
                return nil
            }
            return crossOrigin(origin ?? request.head.headerFields[.referer])
        }
    }

    /// The answer to a browser's preflight for a page of a listed origin; nil for any other request.
    /// Preflights of other origins were refused before.
    func preflightAnswer(_ request: Request, _ space: Space) -> Response? {
        let fields = request.head.headerFields
        guard request.head.method == .options, fields[.accessControlRequestMethod] != nil,
            let origin = fields[.origin], isListed(origin, for: space, request)
        else { return nil }
        var answer = HTTPFields()
        answer[.accessControlAllowOrigin] = origin
        answer[.vary] = "Origin"
        answer[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        answer[.accessControlAllowHeaders] = fields[.accessControlRequestHeaders]
        answer[.accessControlMaxAge] = String(Limits.preflightSeconds)
        return Response(status: .noContent, headerFields: answer)
    }

    /// The header fields that let a page of a listed origin read the answer.
    func sharingFields(_ request: Request, _ space: Space) -> HTTPFields {
        guard let origin = request.head.headerFields[.origin], isListed(origin, for: space, request)
        else {
            return [:]
        }
        var fields = HTTPFields()
        fields[.accessControlAllowOrigin] = origin
        fields[.vary] = "Origin"
        fields[.accessControlExposeHeaders] = Self.exposedFields
        return fields
    }

    private static let exposedFields =
        (["Link", "Location", "ETag", "Age", "Retry-After"]
        + OwnHeader.all.filter { $0.sender == .proxy }.map(\.name.rawName)
        + ["Zumo-Server-Version"]).joined(separator: ", ")

    /// Whether pages of an origin may call a space. No other origin may call the operator API.
    private func isListed(_ origin: String, for space: Space, _ request: Request) -> Bool {
        switch space {
        case .tables, .other: rules(request).allowedOrigins.contains(origin)
        case .operatorAPI: false
        }
    }

    /// Whether a request is a navigation by a link or redirect to a page. It changes nothing, and the page
    /// has to sign in before it shows anything.
    private func isOpenNavigation(_ request: Request, _ path: TargetPath) -> Bool {
        let fields = request.head.headerFields
        guard request.head.method == .get, fields[.origin] == nil,
            fields[.secFetchMode] == "navigate", fields[.secFetchDest] ?? "document" == "document"
        else { return false }
        switch path.segments.first {
        case nil, "-", ".auth", "login": return true
        default: return false
        }
    }

    /// Whether a request is the form that ends a login at a provider (`response_mode=form_post`). It is
    /// safe to pass on: the backend checks the form, its answer gets an origin of its own, and a link could
    /// send the same values to the same address.
    private func isEndOfLogin(_ request: Request, _ path: TargetPath) -> Bool {
        let fields = request.head.headerFields
        guard request.head.method == .post, path.segments.count == 4, !path.segments[2].isEmpty,
            path.segments[..<2] == [".auth", "login"], path.segments[3] == "callback"
        else { return false }
        return fields[.secFetchSite] == "cross-site" && fields[.secFetchMode] == "navigate"
            && fields[.secFetchDest] ?? "document" == "document"
            && MediaType(fields[.contentType] ?? "").isForm
    }

    private func crossOrigin(_ origin: String?) -> Refusal {
        Refusal(
            .origin,
            "A page of another origin asked for this. If it should be allowed, start with "
                + "--allow-origin and its origin.", detail: origin)
    }
}
