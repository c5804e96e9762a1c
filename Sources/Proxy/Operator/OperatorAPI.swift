import HTTPMessage
import HTTPTypes
package import Platform
import SyncCore
import TablesProtocol

/// Answers requests under `/-/` by the routes of all subjects.
struct OperatorAPI: Sendable {
    let routes: [OperatorRoute]
    let status: StatusRoutes
    let clientRequests: ClientRequestTimes
    private let work: BackgroundWork

    init(
        _ status: StatusRoutes, _ clientRequests: ClientRequestTimes, work: BackgroundWork,
        routes: [OperatorRoute]
    ) {
        (self.status, self.clientRequests) = (status, clientRequests)
        (self.work, self.routes) = (work, routes)
    }

    func handle(_ request: Request, _ path: TargetPath) -> Answer {
        let method: HTTPRequest.Method = request.head.method == .head ? .get : request.head.method
        let matches = matches(path.segments)
        if let (route, parameters) = matches.first(where: { $0.route.description.method == method })
        {
            return answer(route, request, parameters)
        }
        if matches.isEmpty {
            return .now(Problem.notFound("There is nothing at this address.").response)
        }
        return .now(Problem.methodNotAllowed(allowedMethods(path.segments)).response)
    }

    /// The methods that a path has; none for a path that is none.
    func allowedMethods(_ segments: [String]) -> [HTTPRequest.Method] {
        matches(segments).flatMap { match -> [HTTPRequest.Method] in
            let method = match.route.description.method
            return method == .get ? [.get, .head] : [method]
        }
    }

    /// The routes with the path that matches, and its parameters. A literal segment comes before a `{parameter}`
    /// that matches it too.
    func matches(
        _ segments: [String]
    ) -> [(route: OperatorRoute, parameters: [String: String])] {
        let found = routes.compactMap { route in route.match(segments).map { (route, $0) } }
        let path = found.min { $0.1.count < $1.1.count }?.0.description.path
        return found.filter { $0.0.description.path == path }
    }

    private func answer(
        _ route: OperatorRoute, _ request: Request, _ parameters: [String: String]
    ) -> Answer {
        do {
            let call = try OperatorCall(request, route.description, parameters: parameters)
            switch route.action {
            case .now(let action): return .now(try action(call))
            case .later(let action): return later(action, call)
            case .change(let action): return later(action, call, isChange: true)
            }
        } catch {
            return .now(Problem.of(error).response)
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
                do {
                    reply(try await action(call))
                } catch {
                    reply(Problem.of(error).response)
                }
            }
        }
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
