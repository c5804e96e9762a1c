import HTTPMessage
import HTTPTypes
import SyncCore

// The table of all routes under `/-/`. A literal segment comes before a `{parameter}` that matches it too.
// openapi.json has the same routes; a test compares the two.
extension OperatorRoute {
    private static let api = "/-/api/v1"

    /// All routes; the first match answers.
    static let all: [OperatorRoute] = [
        .now(.get, "/-/", OperatorAPI.startPage),
        .now(.get, "/-/livez", OperatorAPI.livez),
        .later(.get, "/-/readyz", OperatorAPI.readyz),
        .later(.get, "/-/metrics", OperatorAPI.metrics),
        .now(.get, "/-/openapi.json", OperatorAPI.openAPI),
        .now(.get, "/-/{file}", OperatorAPI.dashboardFile(_:)),
        .now(.get, "/-/{folder}/{file}", OperatorAPI.dashboardFile(_:)),

        .now(.get, "\(api)/session", OperatorAPI.session),
        .now(.post, "\(api)/session", OperatorAPI.signIn),
        .now(.delete, "\(api)/session", OperatorAPI.signOut),
        .now(.get, "\(api)/sessions", OperatorAPI.sessionList),
        .now(.delete, "\(api)/sessions/{id}", OperatorAPI.revokeSession),
        .now(.get, "\(api)/access", OperatorAPI.accessList),
        .now(.post, "\(api)/access", OperatorAPI.addAccess),
        .now(.delete, "\(api)/access/{name}", OperatorAPI.revokeAccess),
        .now(.post, "\(api)/links", OperatorAPI.makeLink),

        .later(.get, "\(api)/status", OperatorAPI.status),
        .change(.post, "\(api)/mode", OperatorAPI.setMode),
        .later(.get, "\(api)/settings", OperatorAPI.settings),
        .change(.patch, "\(api)/settings", OperatorAPI.changeSettings),
        .later(.get, "\(api)/identities", OperatorAPI.identityList),
        .later(.get, "\(api)/storage", OperatorAPI.storage),
        .later(.get, "\(api)/backups", OperatorAPI.backupList),
        .change(.post, "\(api)/backups", OperatorAPI.makeBackup),
        .later(.post, "\(api)/backups/{at}/rehearse", OperatorAPI.rehearseBackup),
        .later(.get, "\(api)/notify", OperatorAPI.notification),
        .later(.post, "\(api)/notify/test", OperatorAPI.testNotification),
        .now(.get, "\(api)/rejections", OperatorAPI.rejectionList),
        .now(.get, "\(api)/process", OperatorAPI.processReport),
        .now(.get, "\(api)/events", OperatorAPI.events),

        .later(.post, "\(api)/sync", OperatorAPI.sync),
        .later(.post, "\(api)/push", OperatorAPI.push),
        .later(.get, "\(api)/runs", OperatorAPI.runs),
        .later(.get, "\(api)/runs/{id}", OperatorAPI.run),
        .change(.post, "\(api)/runs/{id}/cancel", OperatorAPI.cancelRun),

        .later(.get, "\(api)/tables", OperatorAPI.tables),
        .change(.patch, "\(api)/tables/{table}", OperatorAPI.changeTable),
        .later(.get, "\(api)/tables/{table}/items", OperatorAPI.items),
        .later(.get, "\(api)/tables/{table}/server-rows", OperatorAPI.serverRows),
        .later(.get, "\(api)/tables/{table}/set-aside", OperatorAPI.setAsideRows),
        .later(.post, "\(api)/tables/{table}/pull", OperatorAPI.pull),
        .change(.post, "\(api)/tables/{table}/remove", OperatorAPI.removeTable),
        .change(.post, "\(api)/tables/{table}/purge", OperatorAPI.purge),

        .later(.get, "\(api)/operations", OperatorAPI.operations),
        .change(.post, "\(api)/operations/retry", OperatorAPI.retryMany),
        .change(.post, "\(api)/operations/discard", OperatorAPI.discardMany),
        .change(.post, "\(api)/operations/assign", OperatorAPI.assign),
        .later(.get, "\(api)/operations/groups", OperatorAPI.operationGroups),
        .later(.post, "\(api)/operations/outcomes", OperatorAPI.operationOutcomes),
        .later(.get, "\(api)/operations/{id}", OperatorAPI.operation),
        .change(.patch, "\(api)/operations/{id}", OperatorAPI.edit),
        .change(.post, "\(api)/operations/{id}/retry", OperatorAPI.retry),
        .change(.post, "\(api)/operations/{id}/discard", OperatorAPI.discard),

        .change(.post, "\(api)/import", OperatorAPI.importChanges),

        .later(.get, "\(api)/conflicts", OperatorAPI.conflicts),
        .change(.post, "\(api)/conflicts/resolve", OperatorAPI.resolveAll),
        .change(.post, "\(api)/conflicts/send", OperatorAPI.sendDecisions),
        .later(.get, "\(api)/conflicts/{id}", OperatorAPI.conflict),
        .change(.post, "\(api)/conflicts/{id}/resolve", OperatorAPI.resolve),

        .later(.get, "\(api)/history", OperatorAPI.history),
        .change(.post, "\(api)/history/undo", OperatorAPI.undoDecisions),
        .change(.post, "\(api)/history/{id}/undo", OperatorAPI.undo),
        .later(.get, "\(api)/samples", OperatorAPI.samples),
    ]
}

/// One method on one path of `/-/`.
struct OperatorRoute: Sendable {
    /// A method of ``OperatorAPI`` that answers a call.
    typealias Handler =
        @Sendable (OperatorAPI) -> (OperatorCall) throws(Problem) -> Response
    /// The same for a method that waits.
    typealias LaterHandler =
        @Sendable (OperatorAPI) -> (OperatorCall) async throws(Problem) -> Response

    /// How a route answers.
    enum Action: Sendable {
        /// At once, on the server's thread.
        case now(Handler)
        /// In a task, while the connection is suspended. A stop of the server does not wait for it.
        case later(LaterHandler)
        /// The same for a change in a store: a stop of the server waits for the answer. After the stop it
        /// does not begin.
        case change(LaterHandler)
    }

    let method: HTTPRequest.Method
    /// The path as in openapi.json, with `{name}` for one segment.
    let pattern: String
    let action: Action

    /// A route that answers at once.
    static func now(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ handler: @escaping Handler
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .now(handler))
    }

    static func later(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ handler: @escaping LaterHandler
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .later(handler))
    }

    /// A route that changes a store, and answers later.
    static func change(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ handler: @escaping LaterHandler
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .change(handler))
    }

    /// Whether requests are checked by openapi.json. Others, such as those for a page of the dashboard, are
    /// made by browsers and probes, which add parameters of their own.
    var isAPI: Bool { pattern.hasPrefix("\(Self.api)/") }

    /// The routes with the first pattern that matches a path, and the path's parameters.
    static func matches(
        _ segments: [String]
    ) -> [(route: OperatorRoute, parameters: [String: String])] {
        var found: [(route: OperatorRoute, parameters: [String: String])] = []
        for route in all {
            guard route.pattern == found.first?.route.pattern ?? route.pattern,
                let parameters = route.match(segments)
            else { continue }
            found.append((route, parameters))
        }
        return found
    }

    /// The methods that a path has; none for a path that is none.
    static func allowedMethods(_ segments: [String]) -> [HTTPRequest.Method] {
        matches(segments).flatMap { match -> [HTTPRequest.Method] in
            match.route.method == .get ? [.get, .head] : [match.route.method]
        }
    }

    /// The path parameters if `segments` match the pattern; nil otherwise.
    func match(_ segments: [String]) -> [String: String]? {
        let parts = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            if part.first == "{" {
                guard !segment.isEmpty else { return nil }
                parameters[String(part.dropFirst().dropLast())] = segment
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}
