import HTTPMessage
import HTTPTypes
package import SyncCore
import TablesProtocol

/// Sync, push, pull and their runs.
package struct SyncRoutes: Sendable {
    let tenants: TenantRegistry

    package static let sync = run(.post, "/sync", "sync", "Push, then pull all tables")
    package static let push = run(.post, "/push", "push", "Push")
    package static let list = Route<Page<Run>>(
        .get, "/runs", "runs", .sync, "Runs", answers: "Newest first.",
        query: [Fields.after, Fields.limit])
    package static let show = Route<Run>(
        .get, "/runs/{id}", "run", .sync, "One run", answers: "The run.", names: id)
    package static let cancel = Route<Run>(
        .post, "/runs/{id}/cancel", "cancelRun", .sync, "Stop a run after the request in flight",
        answers: "The run now.", names: id)
    package static let pull = Route<Run>(
        .post, "/tables/{table}/pull", "pullTable", .tables, "Pull one table",
        answers: ended, names: TableRoutes.name, query: [Fields.wait],
        body: [query, queryID, reconcile, refuseOlder], bodyName: "PullRequest", also: lasting)

    var routes: [OperatorRoute] {
        [
            .later(Self.sync, tenants, isChange: false) {
                try await Self.outcome(of: await $0.engine.startSync(), $0, $1)
            },
            .later(Self.push, tenants, isChange: false) {
                try await Self.outcome(of: await $0.engine.startPush(), $0, $1)
            },
            .later(Self.list, tenants, list), .later(Self.show, tenants, show),
            .later(Self.cancel, tenants) { tenant, call in
                _ = await tenant.engine.cancel(run: call.parameter("id"))
                return try await show(tenant, call)
            },
            .later(Self.pull, tenants, isChange: false, pull),
        ]
    }

    private static func run(
        _ method: HTTPRequest.Method, _ path: String, _ id: String, _ summary: String
    ) -> Route<Run> {
        Route(
            method, path, id, .sync, summary, answers: ended, query: [Fields.wait], also: lasting)
    }

    private static let ended = "The run has ended."
    private static let lasting = [
        202: "It takes longer; follow it under `runs/{id}` or by events."
    ]
    private static let id = ["id": "Id of the run."]
    package static let query = Field<String>(
        "query", .someText, "An OData query such as `$filter=complete eq false`.")
    package static let queryID = Field<String>(
        "queryId", .someText, "Names the incremental token; without it everything is pulled.")
    package static let reconcile = Field<Bool>(
        "reconcile", .boolean, "True: rows the backend no longer has leave the store.")
    package static let refuseOlder = Field<Bool>(
        "refuseOlder", .boolean,
        "True, with reconcile: where the backend has older rows than it gave before, it may have been restored "
            + "from an older backup. Then these rows stay as they are here, nothing is removed, and the run says "
            + "so. False: the backend's rows are taken whatever they are. Without it rows that were pushed in the "
            + "last minutes stay.")

    private func pull(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answered<Run> {
        let table = try call.table()
        let query = try Self.pullQuery(call.body[Self.query])
        let queryID = call.body[Self.queryID]
        let reconcile = call.body[Self.reconcile] ?? false
        if reconcile, query != PullQuery(), queryID == nil {
            throw Problem.invalid(
                "A reconcile of a part of a table needs the queryId that its pulls had.",
                code: "invalid-query")
        }
        let id = await tenant.engine.startPull(
            table, query: query, queryID: queryID, reconcile: reconcile,
            refusesOlder: reconcile ? call.body[Self.refuseOlder] : nil)
        return try await Self.outcome(of: id, tenant, call)
    }

    private func list(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Page<Run> {
        let page = try await tenant.store.lists.runs(after: call.cursor(), limit: call.limit)
        return page
    }

    private func show(_ tenant: Tenant, _ call: OperatorCall) async throws -> Run {
        guard let run = await tenant.engine.run(call.parameter("id")) else {
            throw Problem.notFound("There is no such run.")
        }
        return run
    }

    /// Answers 200 with the run when it has ended, or 202 with its progress after the time to wait.
    private static func outcome(
        of id: String, _ tenant: Tenant, _ call: OperatorCall
    ) async throws(Problem) -> Answered<Run> {
        let wait = call.query[Fields.wait] ?? Limits.waitSeconds
        guard let run = await tenant.engine.result(of: id, timeout: .seconds(wait)) else {
            throw .unavailable("The run is not known any more.")
        }
        if run.state != .running { return Answered(run) }
        return Answered(run, .accepted, location: call.location("runs/\(run.id)"))
    }

    /// The query of a pull; throws for an option that a pull cannot have.
    private static func pullQuery(_ text: String?) throws(Problem) -> PullQuery {
        do throws(ODataError) {
            return try text.map { text throws(ODataError) in try PullQuery(parsing: text) }
                ?? PullQuery()
        } catch {
            var problem = Problem.invalid(error.description, code: "invalid-query")
            (problem.position, problem.pointer) = (error.position, "/query")
            throw problem
        }
    }
}
