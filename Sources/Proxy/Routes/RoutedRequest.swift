import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

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
        case .pass(.other):
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
        guard space == .tables, let error = refusal.tablesError(gate.bodyLimitBytes(.tables)) else {
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
            methods = OperatorRoute.allowedMethods(place?.path.segments ?? []).map(\.rawValue)
        case .tables:
            if let path = try? asked.tablePath?.get() {
                methods = TableCall.allowedMethods(
                    asked.request, path, defaultGeneration: routes.tables.defaultGeneration)
            }
        case .other, nil: break
        }
        return methods.isEmpty ? Self.knownMethods : methods.joined(separator: ", ")
    }

    private static let knownMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    /// The answer to a body on `/tables` without `Content-Length` that is too large, in the form of the
    /// client's generation.
    func tooLarge(_ request: Request) -> Response? {
        asked.tablePath == nil
            ? nil : rendered(.bodyTooLarge(limitBytes: gate.bodyLimitBytes(.tables)))
    }

    private func rendered(_ error: TablesError) -> Response {
        let client = ClientFamily.detect(
            asked.request, default: routes.tables.defaultGeneration)
        return TablesAnswer(client: client).render(error: error)
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
        } else if space == .tables, request.head.headerFields[.understudySession] != nil,
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
        if TablesRoutes.asksForChanges(asked.request, asked.tablePath) { return }
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
