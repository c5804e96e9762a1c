import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// The whole URL space:
///
/// | path | method | answered by |
/// |---|---|---|
/// | `/` from a browser | GET | a redirect to `/-/` |
/// | `/tables/{table}` | GET, POST | ``TablesRoutes``: list, insert |
/// | `/tables/{table}/{id}` | GET, PATCH, PUT, DELETE, POST | ``TablesRoutes``: get, update, replace, delete, undelete |
/// | `/-/…` | as ``OperatorRoute/all`` says | ``OperatorAPI`` |
/// | anything else | any | ``PassThrough``: the backend |
///
/// A capability address, `/c/SECRET`, may stand before all but `/-/`.
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

    /// A refusal on `/tables` in the caller's shape, where every SDK finds the sentence.
    private func response(_ refusal: Refusal, _ request: Request, _ space: Space?) -> Response {
        guard space == .tables, let error = refusal.tablesError(gate.bodyLimitBytes(.tables)) else {
            return refusal.problem
        }
        let client = ClientFamily.detect(request, default: tables.defaultGeneration)
        return TablesAnswer(client: client).render(error: error)
    }

    /// A body on `/tables` that announced no length is refused in the caller's shape as well.
    func tooLarge(_ request: Request) -> Response? {
        guard TablePath.isTables(request.path) else { return nil }
        let client = ClientFamily.detect(request, default: tables.defaultGeneration)
        return TablesAnswer(client: client).render(
            error: .bodyTooLarge(limitBytes: gate.bodyLimitBytes(.tables)))
    }

    /// Leads a request that the guard let through to the handler that answers it.
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
            // Revoked since its head was judged.
            guard let name = gate.capabilities.name(of: secret) else {
                return .now(Problem.notFound("This address was revoked.").response)
            }
            actor = .namedClient(name)
        }
        let forwarding = PassThrough.Forwarding(
            base: asked.base, addsKey: gate.mayUseTables(asked),
            isSandboxed: gate.portRole(request.connection) != .clients)
        switch space {
        case .tables, .other:
            // From here on the request may go to the backend, where the operator is not known.
            // Nor is the secret of the client's address.
            let fields = gate.access.withoutToken(request.head.headerFields)
            request.head.headerFields =
                asked.secret.map { SecretEncodings($0).removed(from: fields) } ?? fields
        case .operatorAPI: break
        }
        let answer = answer(request, path, space, actor, forwarding)
        return shared.isEmpty ? answer : answer.adding(shared)
    }

    private func answer(
        _ request: Request, _ path: TargetPath, _ space: Space, _ actor: Actor,
        _ forwarding: PassThrough.Forwarding
    ) -> Answer {
        switch space {
        case .tables:
            return tables.handle(request, actor, base: forwarding.base)
        case .operatorAPI:
            // `/-` is the dashboard as well, under the address that its files are relative to.
            let answer: Answer =
                path.segments == ["-"]
                ? .now(Self.toDashboard) : operatorAPI.handle(request, path)
            return answer.addingMissing(OperatorHeaders.fields)
        case .other:
            let isBrowserRoot = path.segments.isEmpty && request.head.method == .get
            let accepts = request.head.headerFields[.accept] ?? ""
            return isBrowserRoot && accepts.contains("text/html")
                ? .now(Self.toDashboard) : passThrough.handle(request, forwarding)
        }
    }

    private static let toDashboard = Response(
        status: .found,
        headerFields: OperatorHeaders.closing([.location: "/-/", .cacheControl: "no-store"]))
}

extension Answer {
    /// The answer with further header fields, now or later.
    func adding(_ fields: HTTPFields) -> Answer {
        map { $0.adding(fields) }
    }

    /// The answer with those fields that it does not have by itself.
    func addingMissing(_ fields: HTTPFields) -> Answer {
        map { response in
            response.adding(
                HTTPFields(fields.filter { !response.head.headerFields.contains($0.name) }))
        }
    }

    /// The answer, changed when it is given.
    func map(_ change: @escaping @Sendable (Response) -> Response) -> Answer {
        switch self {
        case .now(let response): return .now(change(response))
        case .later(let start):
            return .later { reply in start(reply.map(change)) }
        }
    }
}

extension Response {
    /// The response with further header fields in the place of those of the same names.
    func adding(_ fields: HTTPFields) -> Response {
        var response = self
        for field in fields { response.head.headerFields[field.name] = field.value }
        return response
    }
}
