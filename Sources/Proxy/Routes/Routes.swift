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
final class Routes: HTTPHandler {
    let gate: Guard
    let rejections: RejectionLog
    let tables: TablesRoutes
    let operatorAPI: OperatorAPI
    let passThrough: PassThrough

    init(
        gate: Guard, rejections: RejectionLog, tables: TablesRoutes, operatorAPI: OperatorAPI,
        passThrough: PassThrough
    ) {
        self.gate = gate
        self.rejections = rejections
        self.tables = tables
        self.operatorAPI = operatorAPI
        self.passThrough = passThrough
    }

    /// Reads the head of a request, once.
    func read(_ request: Request) -> any RequestHandler {
        RoutedRequest(self, AddressedRequest(request))
    }

    /// Answers a request that the guard has passed.
    /// - Parameter request: the request without its capability address, and without secrets of this program
    ///   in its fields.
    func answer(
        _ request: Request, _ asked: AddressedRequest, _ place: AddressedRequest.Place,
        _ actor: Actor
    ) -> Answer {
        let path = place.path
        switch place.space {
        case .tables: return tables.handle(request, asked, actor)
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
            let forwarding = PassThrough.Forwarding(
                base: asked.base, addsKey: gate.mayUseTables(asked),
                isSandboxed: gate.portRole(request.connection) != .clients)
            return passThrough.handle(request, forwarding)
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
