import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Answers everything under `/-/`. Each handler is a method in the file of its concern; which path
/// leads to it stands in ``OperatorRoute/all``.
struct OperatorAPI: Sendable {
    let tenants: TenantRegistry
    let access: OperatorAccess
    let capabilities: Capabilities
    let rejections: RejectionLog
    /// What the guard goes by now.
    let rules: CurrentRules
    /// How many people can log in to this machine.
    let loginUsers: Int
    /// What was amiss at the start and stays so until the next one.
    let startWarnings: [String]
    let feed: EventFeed
    let readiness: Readiness
    let work: BackgroundWork
    /// The lists of the operator, which never wait for those of clients.
    let longReads: LongReads
    let startedAt: Instant
    let now: @Sendable () -> Instant

    /// What the settings should make the operator think about.
    var warnings: [String] {
        startWarnings + tenants.warnings + rules.snapshot.warnings(loginUsers: loginUsers)
    }

    /// Answers a request that the guard let through.
    func handle(_ request: Request, _ path: TargetPath) -> Answer {
        let method: HTTPRequest.Method = request.head.method == .head ? .get : request.head.method
        var allowed: [String] = []
        for route in OperatorRoute.all {
            guard let parameters = route.match(path.segments) else { continue }
            if route.method == method { return answer(route, request, parameters) }
            allowed.append(route.method.rawValue)
        }
        if allowed.isEmpty {
            return .now(Problem.notFound("There is nothing at this address.").response)
        }
        return .now(Problem.methodNotAllowed(allowed).response)
    }

    private func answer(
        _ route: OperatorRoute, _ request: Request, _ parameters: [String: String]
    ) -> Answer {
        let call: OperatorCall
        do {
            call = try OperatorCall(request, parameters: parameters)
        } catch {
            return .now(error.response)
        }
        switch route.action {
        case .now(let action):
            do {
                return .now(try action(self, call))
            } catch {
                return .now(error.response)
            }
        case .later(let action): return later(action, call)
        case .change(let action): return later(action, call, isChange: true)
        }
    }

    /// Answers in a task. Where the server stops, a change does not begin.
    private func later(
        _ action:
            @escaping @Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response,
        _ call: OperatorCall, isChange: Bool = false
    ) -> Answer {
        .later { reply in
            var call = call
            call.isLeft = { reply.isLeft }
            work.start { [call] in
                guard !isChange || reply.beginsChange() else { return }
                do throws(Problem) {
                    reply(try await action(self, call))
                } catch {
                    reply(error.response)
                }
            }
        }
    }

    /// The tenant of the identity that `?identity=` names; `anonymous` unless given.
    /// Its store is opened for it, and stays open while the tenant is used.
    func tenant(_ call: OperatorCall) async throws(Problem) -> Tenant {
        try await tenant(try identity(call))
    }

    /// The tenant of an identity that there is.
    func tenant(_ identity: String) async throws(Problem) -> Tenant {
        do {
            return try await tenants.open(identity)
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// The identity that `?identity=` names; `anonymous` unless given.
    func identity(_ call: OperatorCall) throws(Problem) -> String {
        let key = call.query["identity"] ?? Identity.anonymousKey
        guard tenants.knows(key) else { throw .notFound("There is no identity \"\(key)\".") }
        return key
    }

    /// Runs a call of a store; its sentence becomes a 503.
    func mappingErrors<Value>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch {
            throw .unavailable(error.description)
        }
    }

    /// What an action on an operation answers.
    func actionResponse(_ outcome: ActionOutcome, noun: String) throws(Problem) -> Response {
        switch outcome {
        case .done(let operation):
            return .json(.members(("operation", operation.map { .operation($0) } ?? .null)))
        case .changed(let current):
            throw Problem(
                status: .conflict, code: "operation-changed",
                detail: "It changed since; look again and decide anew.",
                members: [.init("current", .operation(current))])
        case .notFound: throw .notFound("There is no such \(noun).")
        case .refused(let reason):
            throw Problem(status: .conflict, code: "refused", detail: reason)
        }
    }
}
