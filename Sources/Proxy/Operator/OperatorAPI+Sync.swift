import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Sync, push, pull, purge and their runs.
extension OperatorAPI {
    func sync(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let wait = try Self.wait(call)
        return try await outcome(of: await tenant.engine.startSync(), tenant, wait)
    }

    func push(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let wait = try Self.wait(call)
        return try await outcome(of: await tenant.engine.startPush(), tenant, wait)
    }

    func pull(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let body = try call.body()
        let query = try Self.query(body["query"]?.string)
        let (queryID, reconcile) = (body["queryId"]?.string, body["reconcile"]?.bool ?? false)
        if reconcile, query != PullQuery(), queryID == nil {
            throw .invalid(
                "A reconcile of a part of a table needs the queryId that its pulls had.",
                code: "invalid-query")
        }
        let wait = try Self.wait(call)
        let id = await tenant.engine.startPull(
            table, query: query, queryID: queryID, reconcile: reconcile)
        return try await outcome(of: id, tenant, wait)
    }

    func purge(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let body = try call.body()
        let outcome = await tenant.engine.purge(
            table, filter: try Self.filter(body["query"]?.string),
            force: body["force"]?.bool ?? false)
        switch outcome {
        case .purged(let items, let discarded):
            return .json(
                .members(
                    ("table", .string(table.text)), ("purged", .number(items)),
                    ("discarded", .number(discarded))))
        case .refusedPending(let count):
            throw Problem(
                status: .conflict, code: "operations-open",
                detail: "\(count) open operations of these rows would be lost; push them first, or "
                    + "say force.")
        case .refusedSending:
            throw Problem(
                status: .conflict, code: "sending",
                detail: "An operation of these rows is on its way; try again in a moment.")
        case .unknownTable: throw .notFound("There is no table \(table).")
        case .invalid(let sentence): throw .invalid(sentence, code: "invalid-query")
        case .failed(let sentence): throw .unavailable(sentence)
        }
    }

    func runs(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let limit = try call.limit()
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.runs(after: call.query["after"], limit: limit)
        }
        return .json(.page(page) { .run($0, identity: tenant.identity) })
    }

    func run(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        guard let run = await tenant.engine.run(call.parameter("id")) else {
            throw .notFound("There is no such run.")
        }
        return .json(.run(run, identity: tenant.identity))
    }

    func cancelRun(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        _ = await tenant.engine.cancel(run: call.parameter("id"))
        return try await run(call)
    }

    /// Answers 200 with the run when it has ended, or 202 with its progress after `wait`.
    private func outcome(
        of id: String, _ tenant: Tenant, _ wait: Duration
    ) async throws(Problem) -> Response {
        guard let run = await tenant.engine.result(of: id, timeout: wait) else {
            throw .unavailable("The run is not known any more.")
        }
        return .json(
            .run(run, identity: tenant.identity), status: run.state == .running ? .accepted : .ok)
    }

    private static func wait(_ call: OperatorCall) throws(Problem) -> Duration {
        .seconds(try call.number("wait", in: 0...Limits.waitSecondsMax) ?? Limits.waitSeconds)
    }

    /// The table that the path names.
    static func table(_ call: OperatorCall) throws(Problem) -> TableName {
        guard let table = TableName(call.parameter("table")) else {
            throw .notFound("\"\(call.parameter("table"))\" is not the name of a table.")
        }
        return table
    }

    /// The query of a pull; throws for an option that a pull cannot have.
    private static func query(_ text: String?) throws(Problem) -> PullQuery {
        do throws(ODataError) {
            return try text.map { text throws(ODataError) in try PullQuery(parsing: text) }
                ?? PullQuery()
        } catch {
            var problem = Problem.invalid(error.description, code: "invalid-query")
            problem.members = [.init("position", .number(error.position))]
            throw problem
        }
    }

    /// The text of `$filter` in a query such as `$filter=complete eq false`, or the text itself.
    private static func filter(_ query: String?) throws(Problem) -> String? {
        guard let query, !query.isEmpty else { return nil }
        guard query.contains("$") || query.contains("=") else { return query }
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.first == "$filter" || parts.first == "%24filter" {
                guard parts.count == 2,
                    let filter = PercentCoding.decode(parts[1], plusIsSpace: true)
                else { throw .invalid("The $filter cannot be read.", code: "invalid-query") }
                return filter
            }
        }
        throw .invalid("Of a query only $filter is understood here.", code: "invalid-query")
    }
}
