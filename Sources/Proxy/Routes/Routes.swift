import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// The whole URL space. ``Guard`` checks each request first, and ``Space`` classifies its path.
///
/// | path | method | answered by |
/// |---|---|---|
/// | `/-`, and `/` for a browser | GET | a redirect to `/-/` |
/// | `/tables/{table}` | GET, POST | ``TablesRoutes``: list, insert |
/// | `/tables/{table}/{id}` | GET | ``TablesRoutes``: get |
/// | `/tables/{table}/{id}` | PATCH, PUT | ``TablesRoutes``: update, replace |
/// | `/tables/{table}/{id}` | DELETE, POST | ``TablesRoutes``: delete, undelete |
/// | `/tables/…` | OPTIONS | ``TablesRoutes``: the allowed methods |
/// | `/-/`, `/-/{file}` | GET | ``DashboardFile``, without a sign-in |
/// | `/-/livez`, `/-/readyz`, `/-/metrics`, `/-/openapi.json` | GET | ``OperatorAPI``, without a sign-in |
/// | `/-/api/v1/…` | see ``OperatorRoute/all`` | ``OperatorAPI`` |
/// | any other | any | ``PassThrough``: the backend; ``LoginAnswer`` reads the tokens of logins |
///
/// Each path but `/-/…` may begin with a capability address, `/c/SECRET` (``AddressedRequest``). If the
/// dashboard has a port of its own, its files are at that port alone, and the backend's paths at the
/// clients'.
struct Routes: HTTPHandler {
    let gate: Guard
    let rejections: RejectionLog
    let tables: TablesRoutes
    let operatorAPI: OperatorAPI
    let passThrough: PassThrough

    /// Lets the guard judge the head.
    func admit(_ request: Request) -> Admission {
        switch gate.check(request) {
        case .pass(.other):
            return LoginAnswer.isExpected(of: AddressedRequest(request).request)
                ? .accept(bodyLimitBytes: Limits.loginBodyBytes)
                : .stream(bodyLimitBytes: Limits.passedBodyBytes)
        case .pass(let space): return .accept(bodyLimitBytes: gate.bodyLimitBytes(space))
        case .answer(let response): return .refuse(response)
        case .refuse(let refusal, let space):
            rejections.count(refusal)
            return .refuse(response(refusal, request, space))
        }
    }

    /// The answer to a refused request. On `/tables` it has the form of the client's generation, so that
    /// every SDK finds the sentence.
    private func response(_ refusal: Refusal, _ request: Request, _ space: Space?) -> Response {
        if refusal.reason == .method {
            var response = refusal.problem
            response.head.headerFields[.allow] = allowedMethods(request)
            return response
        }
        guard space == .tables, let error = refusal.tablesError(gate.bodyLimitBytes(.tables)) else {
            return refusal.problem
        }
        let client = ClientFamily.detect(request, default: tables.defaultGeneration)
        return TablesAnswer(client: client).render(error: error)
    }

    /// The methods of a path, for a request with one that this server does not know.
    private func allowedMethods(_ request: Request) -> String {
        let request = AddressedRequest(request).request
        let path = try? TargetPath(request)
        var methods: [String] = []
        switch path.map({ Space($0, method: request.head.method.rawValue) }) {
        case .operatorAPI:
            methods = OperatorRoute.allowedMethods(path?.segments ?? []).map(\.rawValue)
        case .tables:
            let allowed = try? TableCall.allowedMethods(
                request, defaultGeneration: tables.defaultGeneration)
            methods = allowed ?? []
        case .other, nil: break
        }
        return methods.isEmpty ? Self.knownMethods : methods.joined(separator: ", ")
    }

    private static let knownMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    /// The answer to a body on `/tables` without `Content-Length` that is too large, in the form of the
    /// client's generation.
    func tooLarge(_ request: Request) -> Response? {
        guard TablePath.isTables(request.path) else { return nil }
        let client = ClientFamily.detect(request, default: tables.defaultGeneration)
        return TablesAnswer(client: client).render(
            error: .bodyTooLarge(limitBytes: gate.bodyLimitBytes(.tables)))
    }

    /// Calls the handler of a request that the guard has passed.
    func handle(_ request: Request) -> Answer {
        let asked = AddressedRequest(request)
        var request = asked.request
        guard let path = try? TargetPath(request) else {
            return .now(Problem.invalid("The path cannot be read.").response)
        }
        let space = Space(path, method: request.head.method.rawValue)
        let shared = gate.sharingFields(request, space)
        var actor = Actor.client
        if let secret = asked.secret {
            // The address was revoked after the guard had checked the head.
            guard let name = gate.capabilities.name(of: secret) else {
                return .now(Problem.notFound("This address was revoked.").response)
            }
            actor = .namedClient(name)
        } else if space == .tables, request.head.headerFields[.understudySession] != nil,
            gate.access.caller(request) != nil
        {
            actor = .person  // The dashboard writes through `/tables` as well.
        }
        let forwarding = PassThrough.Forwarding(
            base: asked.base, addsKey: gate.mayUseTables(asked),
            isSandboxed: gate.portRole(request.connection) != .clients)
        switch space {
        case .tables, .other:
            // The request may be sent to the backend, which must get neither the operator's token nor the
            // secret of the capability address.
            let fields = gate.access.withoutToken(request.head.headerFields)
            request.head.headerFields =
                asked.secret.map { SecretEncodings($0).removed(from: fields) } ?? fields
        case .operatorAPI: break
        }
        let answer = answer(request, path, space, actor, forwarding)
        return shared.isEmpty ? answer : answer.map { $0.sharing(shared) }
    }

    private func answer(
        _ request: Request, _ path: TargetPath, _ space: Space, _ actor: Actor,
        _ forwarding: PassThrough.Forwarding
    ) -> Answer {
        switch space {
        case .tables:
            return tables.handle(request, actor, base: forwarding.base)
        case .operatorAPI:
            // The dashboard's files are relative to `/-/`, so `/-` is redirected.
            let answer: Answer =
                path.segments == ["-"]
                ? .now(Self.dashboardRedirect) : operatorAPI.handle(request, path)
            return answer.addingMissing(OperatorHeaders.fields)
        case .other:
            let isBrowserRoot = path.segments.isEmpty && request.head.method == .get
            let accepts = request.head.headerFields[.accept] ?? ""
            return isBrowserRoot && accepts.contains("text/html")
                ? .now(Self.dashboardRedirect) : passThrough.handle(request, forwarding)
        }
    }

    private static let dashboardRedirect = Response(
        status: .found,
        headerFields: OperatorHeaders.added(to: [.location: "/-/", .cacheControl: "no-store"]))
}

extension Answer {
    /// The answer with those of the fields whose names it does not have.
    func addingMissing(_ fields: HTTPFields) -> Answer {
        map { response in
            response.adding(
                HTTPFields(fields.filter { !response.head.headerFields.contains($0.name) }))
        }
    }

    /// The answer with a changed response.
    func map(_ change: @escaping @Sendable (Response) -> Response) -> Answer {
        switch self {
        case .now(let response): return .now(change(response))
        case .later(let start):
            return .later { reply in start(reply.map(change)) }
        }
    }
}

extension Response {
    /// The response with the fields that show it to a page of a listed origin. Their lists of names are
    /// appended to those that the backend sent.
    fileprivate func sharing(_ fields: HTTPFields) -> Response {
        var response = self
        for field in fields {
            let isList = field.name == .vary || field.name == .accessControlExposeHeaders
            let sent = isList ? response.head.headerFields[field.name] : nil
            response.head.headerFields[field.name] =
                [sent, field.value].compactMap(\.self).joined(separator: ", ")
        }
        return response
    }

    /// The response with further header fields, which replace fields of the same names.
    func adding(_ fields: HTTPFields) -> Response {
        var response = self
        for field in fields { response.head.headerFields[field.name] = field.value }
        return response
    }
}
