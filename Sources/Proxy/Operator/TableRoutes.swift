import HTTPMessage
import HTTPTypes
package import SyncCore
import TablesProtocol

/// The tables: their policies, what of them is here, and its removal.
package struct TableRoutes: Sendable {
    let tenants: TenantRegistry

    package static let list = Route<Page<Answers.TableStatus>>(
        .get, "/tables", "tables", .tables, "Tables", answers: "All tables.")
    package static let change = Route<Answers.TableStatus>(
        .patch, "/tables/{table}", "changeTable", .tables, "Policies of one table",
        details:
            "What is not named stays. Without `identity` it holds for every identity's store. A table that "
            + "is new is made.",
        answers: "The table as it is now.", names: name, body: TablePolicies.fields,
        bodyName: "TableChange", needsBody: true, also: [503: "StoresLeft"])
    package static let serverRows = Route<Page<ServerRow>>(
        .get, "/tables/{table}/server-rows", "serverRows", .tables,
        "The backend's rows as this store last heard of them",
        details:
            "Without what clients have changed since, and with the backend's own texts of the system columns. "
            + "A row with open operations is the one beside them. Deleted rows are among them where the backend "
            + "keeps them, or where this store has deleted them. `next` is the id of the last row.",
        answers: "One page.", names: name, query: [Fields.limit, Fields.after])
    package static let setAside = Route<Page<SetAsideRow>>(
        .get, "/tables/{table}/set-aside", "setAsideRows", .tables,
        "Rows of the backend that are not here, since they cannot be taken", answers: "One page.",
        names: name, query: [Fields.limit, Fields.after])
    package static let remove = Route<Answers.RemoveResult>(
        .post, "/tables/{table}/remove", "removeTable", .tables,
        "Remove a table with its rows, history and settings from the store",
        details:
            "The backend keeps its rows. Open operations forbid it, unless it is forced; then they are lost.",
        answers: "Done.", names: name, body: [forceRemoval], bodyName: "RemoveRequest",
        also: [409: "Changed"])
    package static let purge = Route<Answers.PurgeResult>(
        .post, "/tables/{table}/purge", "purgeTable", .tables,
        "Remove pulled rows from the store", answers: "Done.", names: name,
        body: [query, all, force, Fields.dryRun], bodyName: "PurgeRequest",
        also: [409: "Changed"])

    var routes: [OperatorRoute] {
        [
            .later(Self.list, tenants, list), .later(Self.change, change),
            .later(Self.serverRows, tenants, serverRows),
            .later(Self.setAside, tenants, setAside), .later(Self.remove, tenants, remove),
            .later(Self.purge, tenants, purge),
        ]
    }

    static let name = ["table": "Name of the table."]
    private static let forceRemoval = Field<Bool>(
        "force", .boolean, "Give up open operations of the table: they are lost.",
        keywords: ["default": .bool(false)])
    package static let query = Field<String>(
        "query", .someText, "Only the rows that match, such as `$filter=complete eq true`.")
    package static let all = Field<Bool>(
        "all", .boolean,
        "True: all rows of the table. It must be said where there is no query, and only there.")
    package static let force = Field<Bool>(
        "force", .boolean, "True: open operations of these rows are discarded too.")

    private func list(
        _ tenant: Tenant, _: OperatorCall
    ) async throws -> Page<Answers.TableStatus> {
        let tables = try await tenant.store.tables()
        return Page(tables.map { Answers.TableStatus($0, identity: tenant.identity) })
    }

    /// Changes a table's policies: in the store of `?identity=`, or without it in all stores.
    private func change(_ call: OperatorCall) async throws -> Answers.TableStatus {
        let isForAll = call.query[Fields.identity] == nil
        let identity = try tenants.identity(of: call)
        let table = try call.table()
        let policies = try TablePolicies(call.body)
        let tenant = try await tenants.open(identity)
        let changed = try await tenant.store.updateTable(table, policies.apply)
        if isForAll {
            let left = try await tenants.updateUsersTables([
                PolicySetting(table: table, policies: policies)
            ])
            if left > 0 { throw Problem.storesLeft(left, of: tenants.identities.count) }
        }
        return Answers.TableStatus(changed, identity: identity)
    }

    /// The backend's rows as they are known here: what a new backend begins with.
    private func serverRows(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Page<ServerRow> {
        let table = try call.table()
        let page = try await tenant.store.lists.serverRows(
            of: table, after: call.query[Fields.after], limit: call.limit)
        guard let page else { throw Problem.notFound("There is no table \(table) here yet.") }
        return page
    }

    private func setAside(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Page<SetAsideRow> {
        let table = try call.table()
        let page = try await tenant.store.lists.setAsideRows(
            of: table, after: call.query[Fields.after], limit: call.limit)
        guard let page else { throw Problem.notFound("There is no table \(table) here yet.") }
        return page
    }

    private func remove(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.RemoveResult {
        let table = try call.table()
        switch await tenant.engine.remove(table, force: call.body[Self.force] ?? false) {
        case .removed(let items, let discarded):
            return .init(table: table.text, removed: items, discarded: discarded)
        case .refusedPending(let count):
            throw Self.open(
                "The table \(table) has \(Self.notSent(count)), and all of them would be lost for "
                    + "good: say force (--force) to give them up.")
        case .refusedRunning:
            throw Self.sending("A sync runs; try again when it has ended.")
        case .unknownTable: throw Problem.notFound("There is no table \(table) here.")
        case .failed(let sentence): throw Problem.unavailable(sentence)
        }
    }

    private func purge(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.PurgeResult {
        let table = try call.table()
        let (query, isAll) = (call.body[Self.query], call.body[Self.all] ?? false)
        if (query == nil) != isAll {
            throw isAll
                ? Problem.invalid(
                    "all goes without a query: leave one of them out.", pointer: "/all")
                : Problem.invalid(
                    "There is no query: say \"all\": true if all rows of the table are meant.",
                    pointer: "/query")
        }
        let outcome = await tenant.engine.purge(
            table, filter: try query.map { query throws(Problem) in try Self.filter(query) },
            force: call.body[Self.force] ?? false, dryRun: call.isDryRun)
        switch outcome {
        case .purged(let items, let discarded, let entry):
            return .init(
                table: table.text, purged: items, discarded: discarded, historyId: entry)
        case .refusedPending(let count):
            throw Self.open(
                "The table has \(Self.notSent(count)): say force (--force) to discard those of the "
                    + "rows that match. The history can undo that.")
        case .refusedSending:
            throw Self.sending(
                "An operation of these rows is on its way; try again in a moment.")
        case .unknownTable: throw Problem.notFound("There is no table \(table).")
        case .invalid(let sentence): throw Problem.invalid(sentence, code: "invalid-query")
        case .failed(let sentence): throw Problem.unavailable(sentence)
        }
    }

    private static func open(_ sentence: String) -> Problem {
        Problem(status: .conflict, code: "operations-open", detail: sentence)
    }

    private static func sending(_ sentence: String) -> Problem {
        Problem(status: .conflict, code: "sending", detail: sentence)
    }

    /// How many changes stand in the way of a removal.
    private static func notSent(_ count: Int) -> String {
        count == 1
            ? "1 change that is not on the server" : "\(count) changes that are not on the server"
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
