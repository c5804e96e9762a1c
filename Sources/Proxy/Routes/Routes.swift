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
/// | `/tables/{table}/{id}/…` | any | ``TablesRoutes``: passed through to the backend |
/// | `/tables/…` | OPTIONS | ``TablesRoutes``: the allowed methods |
/// | `/-/`, `/-/{file}`, `/-/{folder}/{file}` | GET | ``DashboardRoutes``, without a sign-in |
/// | `/-/livez`, `/-/readyz`, `/-/metrics`, `/-/openapi.json` | GET | ``HealthRoutes``, without a sign-in |
/// | `/-/api/v1/session`, `sessions…`, `access…`, `links` | GET, POST, DELETE | ``AccessRoutes`` |
/// | `/-/api/v1/status`, `mode`, `settings`, `identities`, `storage`, `rejections`, `process` | GET, POST, PATCH | ``StatusRoutes`` |
/// | `/-/api/v1/backups…`; `notify…`; `events` | GET, POST | ``BackupRoutes``; ``NotifyRoutes``; ``EventRoutes`` |
/// | `/-/api/v1/sync`, `push`, `runs…`, `tables/{table}/pull` | GET, POST | ``SyncRoutes`` |
/// | `/-/api/v1/tables…`; `tables/{table}/items` | GET, POST, PATCH | ``TableRoutes``; ``RowRoutes`` |
/// | `/-/api/v1/operations…`; `import` | GET, POST, PATCH | ``QueueRoutes``; ``ImportRoutes`` |
/// | `/-/api/v1/conflicts…`; `history…`, `samples` | GET, POST | ``ConflictRoutes``; ``HistoryRoutes`` |
/// | any other | any | ``PassThrough``: the backend; ``LoginAnswer`` reads the tokens of logins |
///
/// Each path but `/-/…` may begin with a capability address, `/c/SECRET` (``AddressedRequest``). If the
/// dashboard has a port of its own, its files are at that port alone, and the backend's paths at the
/// clients'.
final class Routes: HTTPHandler {
    let gate: Guard
    let rejections: RejectionLog
    let tables: TablesRoutes
    let operatorAPI: OperatorAPI
    /// The generation of requests that show none.
    private let defaultGeneration: Generation

    init(
        gate: Guard, rejections: RejectionLog, tables: TablesRoutes, operatorAPI: OperatorAPI,
        defaultGeneration: Generation
    ) {
        self.gate = gate
        self.rejections = rejections
        self.tables = tables
        self.operatorAPI = operatorAPI
        self.defaultGeneration = defaultGeneration
    }

    /// Reads the head of a request, once.
    func read(_ request: Request) -> any RequestHandler {
        RoutedRequest(self, AddressedRequest(request, defaultGeneration: defaultGeneration))
    }

    /// Answers a request that the guard has passed.
    /// - Parameter request: the request without its capability address, and without secrets of this program
    ///   in its fields.
    func answer(
        _ request: Request, _ asked: AddressedRequest, _ place: AddressedRequest.Place,
        _ actor: Actor
    ) -> Answer {
        let path = place.path
        func forwarded(mayChangeRows: Bool = false) -> ForwardedRequest {
            ForwardedRequest(
                request: request, client: asked.client, base: asked.base,
                addsKey: gate.mayUseTables(asked),
                isSandboxed: gate.portRole(request.connection) != .clients,
                mayChangeRows: mayChangeRows)
        }
        switch place.space {
        case .tables: return tables.handle(request, asked, actor, forwarded())
        case .operatorAPI:
            // The dashboard's files are relative to `/-/`, so `/-` is redirected.
            let answer: Answer =
                path.segments == ["-"]
                ? .now(Self.dashboardRedirect) : operatorAPI.handle(request, path)
            return answer.addingMissing(OperatorHeaders.fields)
        case .other:
            let isBrowserRoot = path.segments.isEmpty && request.head.method == .get
            let accepts = request.head.headerFields[.accept] ?? ""
            if isBrowserRoot, accepts.contains("text/html") { return .now(Self.dashboardRedirect) }
            let mayChangeRows = CustomAPIs.mayChangeRows(request.head.method, root: path.root)
            return tables.passThrough.handle(forwarded(mayChangeRows: mayChangeRows))
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

    func map(_ change: @escaping @Sendable (Response) -> Response) -> Answer {
        switch self {
        case .now(let response): return .now(change(response))
        case .later(let start):
            return .later { reply in start(reply.map(change)) }
        }
    }
}

extension Response {
    /// The response with further header fields, which replace fields of the same names.
    func adding(_ fields: HTTPFields) -> Response {
        var response = self
        for field in fields { response.head.headerFields[field.name] = field.value }
        return response
    }
}

/// One request on its way through guard and routes.
final class RoutedRequest: RequestHandler {
    private let routes: Routes
    private let asked: AddressedRequest

    init(_ routes: Routes, _ asked: AddressedRequest) {
        self.routes = routes
        self.asked = asked
    }

    private var gate: Guard { routes.gate }

    /// Lets the guard judge the head.
    func admit(_ request: Request) -> Admission {
        switch gate.check(asked) {
        case .pass(let space) where asked.contentSpace(space) == .other:
            return LoginAnswer.isExpected(of: asked.request)
                ? .accept(bodyLimitBytes: Limits.loginBodyBytes)
                : .stream(bodyLimitBytes: Limits.passedBodyBytes)
        case .pass(let space): return .accept(bodyLimitBytes: gate.bodyLimitBytes(space))
        case .answer(let response): return .refuse(response)
        case .refuse(let refusal, let space):
            routes.rejections.count(refusal)
            return .refuse(response(refusal, space))
        }
    }

    /// The answer to a refused request. On `/tables` it has the form of the client's generation, so that
    /// every SDK finds the sentence.
    private func response(_ refusal: Refusal, _ space: Space?) -> Response {
        if refusal.reason == .method {
            var response = refusal.problem
            response.head.headerFields[.allow] = allowedMethods
            return response
        }
        let limit = gate.bodyLimitBytes(asked.contentSpace(.tables))
        guard space == .tables, let error = refusal.tablesError(limit) else {
            return refusal.problem
        }
        return rendered(error)
    }

    /// The methods of the path, for a request with one that this server does not know.
    private var allowedMethods: String {
        var methods: [String] = []
        let place = try? asked.place.get()
        switch place?.space {
        case .operatorAPI:
            methods = routes.operatorAPI.allowedMethods(place?.path.segments ?? []).map(\.rawValue)
        case .tables:
            if asked.pathBelowItem == nil {
                methods = (try? asked.tables?.allowedMethods()) ?? []
            }
        case .other, nil: break
        }
        return methods.isEmpty ? Self.knownMethods : methods.joined(separator: ", ")
    }

    private static let knownMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    /// The answer to a body on `/tables` without `Content-Length` that is too large, in the form of the
    /// client's generation.
    func tooLarge(_ request: Request) -> Response? {
        let limit = gate.bodyLimitBytes(asked.contentSpace(.tables))
        return asked.tables == nil ? nil : rendered(.bodyTooLarge(limitBytes: limit))
    }

    private func rendered(_ error: TablesError) -> Response {
        TablesAnswer(client: asked.client).render(error: error)
    }

    /// Answers the request, which the guard has passed.
    func handle(_ request: Request) -> Answer {
        guard case .success(let place) = asked.place else {
            return .now(Problem.invalid("The path cannot be read.").response)
        }
        let space = place.space
        let shared = gate.sharingFields(asked.request, space)
        var actor = Actor.client
        if let secret = asked.secret {
            // The address was revoked after the guard had checked the head.
            guard let name = gate.capabilities.name(of: secret) else {
                return .now(Problem.notFound("This address was revoked.").response)
            }
            actor = .namedClient(name)
        } else if space == .tables, request.head.headerFields[own: .session] != nil,
            gate.access.caller(request) != nil
        {
            actor = .person  // The dashboard writes through `/tables` as well.
        }
        var plain = asked.request
        plain.body = request.body
        plain.bodyStream = request.bodyStream
        switch space {
        case .tables, .other:
            // The request may be sent to the backend, which must get neither the operator's token nor the
            // secret of the capability address.
            let fields = gate.access.withoutToken(plain.head.headerFields)
            plain.head.headerFields =
                asked.secret.map { SecretEncodings($0).removed(from: fields) } ?? fields
        case .operatorAPI: break
        }
        let answer = routes.answer(plain, asked, place, actor)
        return shared.isEmpty ? answer : answer.map { $0.sharing(shared) }
    }

    /// Counts the request, if it was one for a table.
    func ended(status: HTTPResponse.Status?, took time: Duration) {
        // A stream that was followed for hours took no time of a request.
        if ClientChanges.areAsked(by: asked.request, try? asked.tables?.path.get()) { return }
        routes.operatorAPI.clientRequests.note(asked, status: status?.code, took: time)
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
}
