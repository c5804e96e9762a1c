import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Sync, push, pull, purge and their runs.
extension OperatorAPI {
    /// `POST /sync`: pushes, then pulls all tables.
    func sync(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let wait = try Self.wait(call)
        return try await outcome(of: await tenant.engine.startSync(), tenant, wait, call)
    }

    /// `POST /push`: pushes.
    func push(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let wait = try Self.wait(call)
        return try await outcome(of: await tenant.engine.startPush(), tenant, wait, call)
    }

    /// `POST /tables/{table}/pull`: pulls one table.
    func pull(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let body = call.body
        let query = try Self.query(body["query"]?.string)
        let (queryID, reconcile) = (body["queryId"]?.string, body["reconcile"]?.bool ?? false)
        if reconcile, query != PullQuery(), queryID == nil {
            throw .invalid(
                "A reconcile of a part of a table needs the queryId that its pulls had.",
                code: "invalid-query")
        }
        let refusesOlder = reconcile ? body["refuseOlder"]?.bool : nil
        let wait = try Self.wait(call)
        let id = await tenant.engine.startPull(
            table, query: query, queryID: queryID, reconcile: reconcile, refusesOlder: refusesOlder)
        return try await outcome(of: id, tenant, wait, call)
    }

    /// `POST /tables/{table}/purge`: removes pulled rows from the store.
    func purge(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let (query, isAll) = (call.body["query"]?.string, call.body["all"]?.bool ?? false)
        if (query == nil) != isAll {
            throw isAll
                ? .invalid("all goes without a query: leave one of them out.", pointer: "/all")
                : .invalid(
                    "There is no query: say \"all\": true if all rows of the table are meant.",
                    pointer: "/query")
        }
        let outcome = await tenant.engine.purge(
            table, filter: try query.map { query throws(Problem) in try Self.filter(query) },
            force: call.body["force"]?.bool ?? false,
            dryRun: call.body["dryRun"]?.bool ?? false)
        switch outcome {
        case .purged(let items, let discarded, let entry):
            return .json(
                Answers.PurgeResult(
                    table: table.text, purged: items, discarded: discarded, historyId: entry))
        case .refusedPending(let count):
            throw Problem(
                status: .conflict, code: "operations-open",
                detail:
                    "The table has \(Self.notSent(count)): say force (--force) to discard those of the "
                    + "rows that match. The history can undo that.")
        case .refusedSending:
            throw Problem(
                status: .conflict, code: "sending",
                detail: "An operation of these rows is on its way; try again in a moment.")
        case .unknownTable: throw .notFound("There is no table \(table).")
        case .invalid(let sentence): throw .invalid(sentence, code: "invalid-query")
        case .failed(let sentence): throw .unavailable(sentence)
        }
    }

    /// `GET /runs`: lists the runs.
    func runs(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let (limit, after) = (try call.limit(), try call.cursor())
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.runs(after: after, limit: limit)
        }
        return .json(page)
    }

    /// `GET /runs/{id}`: one run.
    func run(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        guard let run = await tenant.engine.run(call.parameter("id")) else {
            throw .notFound("There is no such run.")
        }
        return .json(run)
    }

    /// `POST /runs/{id}/cancel`: stops a run after the request in flight.
    func cancelRun(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        _ = await tenant.engine.cancel(run: call.parameter("id"))
        return try await run(call)
    }

    /// Answers 200 with the run when it has ended, or 202 with its progress after `wait`.
    private func outcome(
        of id: String, _ tenant: Tenant, _ wait: Duration, _ call: OperatorCall
    ) async throws(Problem) -> Response {
        guard let run = await tenant.engine.result(of: id, timeout: wait) else {
            throw .unavailable("The run is not known any more.")
        }
        if run.state != .running { return .json(run) }
        return .json(run, status: .accepted, location: call.location("runs/\(run.id)"))
    }

    private static func wait(_ call: OperatorCall) throws(Problem) -> Duration {
        .seconds(try call.number("wait", in: 0...Limits.waitSecondsMax) ?? Limits.waitSeconds)
    }

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
            (problem.position, problem.pointer) = (error.position, "/query")
            throw problem
        }
    }

    /// The text of `$filter` in a query such as `$filter=complete eq false`, or the text itself. Any other
    /// option would not narrow what is purged, so it is refused.
    private static func filter(_ query: String) throws(Problem) -> String {
        let isQuery = query.contains("$") || query.contains("=")
        var filter = isQuery ? nil : query
        for pair in isQuery ? try RequestDescription.pairs(query[...]) : [] {
            guard pair.name == "$filter", filter == nil else {
                throw noFilter("Of a query only $filter is understood here, once.")
            }
            filter = pair.value
        }
        guard let filter, !filter.allSatisfy(\.isWhitespace) else {
            throw noFilter("The $filter is empty.")
        }
        return filter
    }

    private static func noFilter(_ sentence: String) -> Problem {
        var problem = Problem.invalid(sentence, code: "invalid-query")
        problem.pointer = "/query"
        return problem
    }
}
