import HTTPMessage
import HTTPTypes

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

    func rules(_ request: Request) -> GuardRules {
        currentRules.snapshot(worker: request.connection.worker)
    }

    /// Checks `request`, in this order:
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
        if let refusal = overrideRefusal(request, space) ?? boundsRefusal(request, space)
            ?? originRefusal(request, space, path) ?? secretRefusal(asked, space, path)
        {
            return .refuse(refusal, space)
        }
        if let decision = portDecision(request, space, path) { return decision }
        if let answer = preflightAnswer(request, space) { return .answer(answer) }
        if let refusal = capabilityRefusal(asked, space) ?? signInRefusal(request, space)
            ?? contentTypeRefusal(request, space)
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
        guard let length = request.head.headerFields[.contentLength].flatMap({ Int($0) }),
            length > bodyLimitBytes(space)
        else { return nil }
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
        guard space != .tables, request.announcesBody else { return nil }
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
