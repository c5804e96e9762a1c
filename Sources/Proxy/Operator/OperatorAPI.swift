import HTTPMessage
import HTTPTypes
package import Platform
import SyncCore
import TablesProtocol

/// Answers requests under `/-/`. The handlers are methods in the other files of this folder.
/// ``OperatorRoute/all`` has their paths.
struct OperatorAPI: Sendable {
    let tenants: TenantRegistry
    let access: OperatorAccess
    let capabilities: Capabilities
    let rejections: RejectionLog
    let refusedWrites: RefusedWrites
    let clientRequests = ClientRequestTimes()
    /// The whole lists that are being written.
    let exports = Permits(Limits.exportsAtOnce)
    /// The data folder, whose disk the metrics measure.
    let folder: DataFolder
    /// The rules of the guard, and the addresses that this program listens on.
    let rules: CurrentRules
    /// The number of people who can log in to this machine.
    let loginUsers: Int
    let feed: EventFeed
    let readiness: Readiness
    let backups: AutomaticBackups
    let notifier: Notifier
    let work: BackgroundWork
    /// The lane of the operator's lists, which clients' lists do not use.
    let longReads: LongReads
    let process: ProcessReport
    let startedAt: Instant
    let now: @Sendable () -> Instant

    /// Warnings for the operator about the settings and the stores.
    var warnings: [String] {
        get async {
            let waiting = await tenants.waitingWarnings()
            let unsigned = await tenants.unsigned().map { [$0.sentence] } ?? []
            return tenants.warnings + waiting + unsigned
                + rules.snapshot().warnings(loginUsers: loginUsers)
        }
    }

    func handle(_ request: Request, _ path: TargetPath) -> Answer {
        let method: HTTPRequest.Method = request.head.method == .head ? .get : request.head.method
        let matches = OperatorRoute.matches(path.segments)
        if let (route, parameters) = matches.first(where: { $0.route.method == method }) {
            return answer(route, request, parameters)
        }
        if matches.isEmpty {
            return .now(Problem.notFound("There is nothing at this address.").response)
        }
        return .now(
            Problem.methodNotAllowed(OperatorRoute.allowedMethods(path.segments)).response)
    }

    private func answer(
        _ route: OperatorRoute, _ request: Request, _ parameters: [String: String]
    ) -> Answer {
        let call: OperatorCall
        do {
            call = try OperatorCall(request, route, parameters: parameters)
        } catch {
            return .now(error.response)
        }
        switch route.action {
        case .now(let action):
            do {
                return .now(try action(self)(call))
            } catch {
                return .now(error.response)
            }
        case .later(let action): return later(action, call)
        case .change(let action): return later(action, call, isChange: true)
        }
    }

    /// Answers in a task. A change does not begin if the server stops.
    private func later(
        _ action: @escaping OperatorRoute.LaterHandler, _ call: OperatorCall,
        isChange: Bool = false
    ) -> Answer {
        .later { reply in
            var call = call
            call.clientHasLeft = { reply.clientHasLeft }
            work.start { [call] in
                guard !isChange || reply.tryBeginChange() else { return }
                do throws(Problem) {
                    reply(try await action(self)(call))
                } catch {
                    reply(error.response)
                }
            }
        }
    }

    /// The tenant of the identity that `?identity=` names, by default `anonymous`. Its store is opened, and
    /// stays open while the tenant is used.
    func tenant(_ call: OperatorCall) async throws(Problem) -> Tenant {
        try await tenant(try identity(call))
    }

    func tenant(_ identity: String) async throws(Problem) -> Tenant {
        do {
            return try await tenants.open(identity)
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// The identity that `?identity=` names, by default `anonymous`; throws 404 if it has no store.
    func identity(_ call: OperatorCall) throws(Problem) -> String {
        let key = call.query["identity"] ?? Identity.anonymousKey
        guard tenants.knows(key) else { throw .notFound("There is no identity \"\(key)\".") }
        return key
    }

    /// Calls a store; an error of the store becomes a 503 with its sentence.
    func mappingErrors<Value>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch {
            throw .unavailable(error.description)
        }
    }

    /// The answer to an action on an operation.
    /// - Parameter noun: what the action was for, for the sentence of a 404.
    func actionResponse(_ outcome: ActionOutcome, noun: String) throws(Problem) -> Response {
        switch outcome {
        case .done(let operation):
            return .json(Answers.ActionResult(operation: operation))
        case .changed(let current):
            throw Problem(
                status: .conflict, code: "operation-changed",
                detail: "It changed since; look again and decide anew.",
                current: current)
        case .notFound: throw .notFound("There is no such \(noun).")
        case .refused(let reason):
            throw Problem(status: .conflict, code: "refused", detail: reason)
        }
    }
}

// The process, for `doctor --json`.
extension OperatorAPI {
    /// `GET /process`: the settings that hold, the libraries, and the end of the log.
    func processReport(_: OperatorCall) -> Response {
        .json(
            Answers.ProcessReport(
                version: Version.text, startedAt: startedAt, libraries: process.libraries,
                settings: process.settings(), log: process.log()))
    }
}

/// The process of a running Understudy: the settings that hold, its libraries, and the end of its log. It is
/// empty in a command that opens the stores without a server.
package struct ProcessReport: Sendable {
    package typealias Setting = Answers.Setting
    package typealias Library = Platform.Library

    let settings: @Sendable () -> [Setting]
    let libraries: [Library]
    /// The last lines of the log, the oldest first.
    let log: @Sendable () -> [String]

    /// - Parameters:
    ///   - settings: those that hold now.
    ///   - libraries: those that are linked.
    ///   - log: the last lines of the log, the oldest first.
    package init(
        settings: @escaping @Sendable () -> [Setting], libraries: [Library],
        log: @escaping @Sendable () -> [String]
    ) {
        self.settings = settings
        self.libraries = libraries
        self.log = log
    }

    /// No settings, no libraries, no log.
    package static let none = ProcessReport(settings: { [] }, libraries: [], log: { [] })
}
