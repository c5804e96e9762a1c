import HTTPMessage
import HTTPTypes
import SyncCore

// The table of all routes under `/-/`. A literal segment comes before a `{parameter}` that matches it too.
// openapi.json has the same routes; a test compares the two.
extension OperatorRoute {
    private static let api = "/-/api/v1"

    /// All routes; the first match answers.
    static let all: [OperatorRoute] = [
        .now(.get, "/-/") { api, call throws(Problem) in
            try api.dashboardFile("index.html", call)
        },
        .now(.get, "/-/livez") { api, _ in api.livez() },
        .later(.get, "/-/readyz") { api, call throws(Problem) in try await api.readyz(call) },
        .later(.get, "/-/metrics") { api, _ in await api.metrics() },
        .now(.get, "/-/openapi.json") { api, _ in api.openAPI() },
        .now(.get, "/-/{file}") { api, call throws(Problem) in
            try api.dashboardFile(call.parameter("file"), call)
        },

        .now(.get, "\(api)/session") { api, call throws(Problem) in try api.session(call) },
        .now(.post, "\(api)/session") { api, call throws(Problem) in try api.signIn(call) },
        .now(.delete, "\(api)/session") { api, call in api.signOut(call) },
        .now(.get, "\(api)/sessions") { api, call in api.sessionList(call) },
        .now(.delete, "\(api)/sessions/{id}") { api, call throws(Problem) in
            try api.revokeSession(call)
        },
        .now(.get, "\(api)/access") { api, _ in api.accessList() },
        .now(.post, "\(api)/access") { api, call throws(Problem) in try api.addAccess(call) },
        .now(.delete, "\(api)/access/{name}") { api, call throws(Problem) in
            try api.revokeAccess(call)
        },
        .now(.post, "\(api)/links") { api, call throws(Problem) in try api.makeLink(call) },

        .later(.get, "\(api)/status") { api, call throws(Problem) in try await api.status(call) },
        .change(.post, "\(api)/mode") { api, call throws(Problem) in try await api.setMode(call) },
        .later(.get, "\(api)/settings") { api, call throws(Problem) in
            try await api.settings(call)
        },
        .change(.patch, "\(api)/settings") { api, call throws(Problem) in
            try await api.changeSettings(call)
        },
        .later(.get, "\(api)/identities") { api, _ async throws(Problem) in
            try await api.identityList()
        },
        .later(.get, "\(api)/storage") { api, call throws(Problem) in try await api.storage(call) },
        .later(.get, "\(api)/backups") { api, _ in await api.backupList() },
        .change(.post, "\(api)/backups") { api, _ async throws(Problem) in
            try await api.makeBackup()
        },
        .now(.get, "\(api)/rejections") { api, _ in api.rejectionList() },
        .now(.get, "\(api)/process") { api, _ in api.processReport() },
        .now(.get, "\(api)/events") { api, call throws(Problem) in try api.events(call) },

        .later(.post, "\(api)/sync") { api, call throws(Problem) in try await api.sync(call) },
        .later(.post, "\(api)/push") { api, call throws(Problem) in try await api.push(call) },
        .later(.get, "\(api)/runs") { api, call throws(Problem) in try await api.runs(call) },
        .later(.get, "\(api)/runs/{id}") { api, call throws(Problem) in try await api.run(call) },
        .change(.post, "\(api)/runs/{id}/cancel") { api, call throws(Problem) in
            try await api.cancelRun(call)
        },

        .later(.get, "\(api)/tables") { api, call throws(Problem) in try await api.tables(call) },
        .change(.patch, "\(api)/tables/{table}") { api, call throws(Problem) in
            try await api.changeTable(call)
        },
        .later(.get, "\(api)/tables/{table}/items") { api, call throws(Problem) in
            try await api.items(call)
        },
        .later(.get, "\(api)/tables/{table}/server-rows") { api, call throws(Problem) in
            try await api.serverRows(call)
        },
        .later(.get, "\(api)/tables/{table}/set-aside") { api, call throws(Problem) in
            try await api.setAsideRows(call)
        },
        .change(.post, "\(api)/tables/{table}/indexes") { api, call throws(Problem) in
            try await api.buildIndex(call)
        },
        .change(.delete, "\(api)/tables/{table}/indexes/{id}") { api, call throws(Problem) in
            try await api.dropIndex(call)
        },
        .later(.post, "\(api)/tables/{table}/pull") { api, call throws(Problem) in
            try await api.pull(call)
        },
        .change(.post, "\(api)/tables/{table}/remove") { api, call throws(Problem) in
            try await api.removeTable(call)
        },
        .change(.post, "\(api)/tables/{table}/purge") { api, call throws(Problem) in
            try await api.purge(call)
        },

        .later(.get, "\(api)/operations") { api, call throws(Problem) in
            try await api.operations(call)
        },
        .change(.post, "\(api)/operations/retry") { api, call throws(Problem) in
            try await api.bulk(.retry, call)
        },
        .change(.post, "\(api)/operations/discard") { api, call throws(Problem) in
            try await api.bulk(.discard, call)
        },
        .later(.get, "\(api)/operations/groups") { api, call throws(Problem) in
            try await api.operationGroups(call)
        },
        .later(.post, "\(api)/operations/outcomes") { api, call throws(Problem) in
            try await api.operationOutcomes(call)
        },
        .later(.get, "\(api)/operations/{id}") { api, call throws(Problem) in
            try await api.operation(call)
        },
        .change(.patch, "\(api)/operations/{id}") { api, call throws(Problem) in
            try await api.edit(call)
        },
        .change(.post, "\(api)/operations/{id}/retry") { api, call throws(Problem) in
            try await api.retry(call)
        },
        .change(.post, "\(api)/operations/{id}/discard") { api, call throws(Problem) in
            try await api.discard(call)
        },

        .change(.post, "\(api)/import") { api, call throws(Problem) in
            try await api.importChanges(call)
        },

        .later(.get, "\(api)/conflicts") { api, call throws(Problem) in
            try await api.conflicts(call)
        },
        .change(.post, "\(api)/conflicts/resolve") { api, call throws(Problem) in
            try await api.resolveAll(call)
        },
        .change(.post, "\(api)/conflicts/send") { api, call throws(Problem) in
            try await api.sendDecisions(call)
        },
        .later(.get, "\(api)/conflicts/{id}") { api, call throws(Problem) in
            try await api.conflict(call)
        },
        .change(.post, "\(api)/conflicts/{id}/resolve") { api, call throws(Problem) in
            try await api.resolve(call)
        },

        .later(.get, "\(api)/history") { api, call throws(Problem) in try await api.history(call) },
        .change(.post, "\(api)/history/undo") { api, call throws(Problem) in
            try await api.undoDecisions(call)
        },
        .change(.post, "\(api)/history/{id}/undo") { api, call throws(Problem) in
            try await api.undo(call)
        },
        .later(.get, "\(api)/samples") { api, call throws(Problem) in try await api.samples(call) },
    ]
}

/// One method on one path of `/-/`.
struct OperatorRoute: Sendable {
    /// How a route answers.
    enum Action: Sendable {
        /// At once, on the server's thread.
        case now(@Sendable (OperatorAPI, OperatorCall) throws(Problem) -> Response)
        /// In a task, while the connection is suspended. A stop of the server does not wait for it.
        case later(@Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response)
        /// The same for a change in a store: a stop of the server waits for the answer. After the stop it
        /// does not begin.
        case change(@Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response)
    }

    let method: HTTPRequest.Method
    /// The path as in openapi.json, with `{name}` for one segment.
    let pattern: String
    let action: Action

    /// A route that answers at once.
    static func now(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ action: @escaping @Sendable (OperatorAPI, OperatorCall) throws(Problem) -> Response
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .now(action))
    }

    /// A route that answers later.
    static func later(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ action: @escaping @Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .later(action))
    }

    /// A route that changes a store, and answers later.
    static func change(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ action: @escaping @Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .change(action))
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
