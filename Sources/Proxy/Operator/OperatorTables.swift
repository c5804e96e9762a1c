import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Tables and their rows with sync state.
extension OperatorAPI {
    /// `GET /tables`: lists the tables.
    func tables(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let tables = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.tables()
        }
        return .json(
            Answers.Page(tables.map { Answers.TableStatus($0, identity: tenant.identity) }))
    }

    /// Changes a table's policies: in the store of `?identity=`, or without it in all stores.
    func changeTable(_ call: OperatorCall) async throws(Problem) -> Response {
        let named = try identity(call)
        let isForAll = call.query["identity"] == nil
        let table = try Self.table(call)
        let policies = try TablePolicies(call.body)
        let first = try await tenant(isForAll ? Identity.anonymousKey : named)
        let changed = try await mappingErrors { () throws(StoreError) in
            try await first.store.updateTable(table, policies.apply)
        }
        if isForAll {
            let left = try await mappingErrors { () throws(StoreError) in
                try await tenants.updateUsersTables([
                    PolicySetting(table: table, policies: policies)
                ])
            }
            if left > 0 { throw .storesLeft(left, of: tenants.identities.count) }
        }
        return .json(Answers.TableStatus(changed, identity: named))
    }

    /// Removes a table from the store of an identity.
    func removeTable(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let force = call.body["force"]?.bool ?? false
        switch await tenant.engine.remove(table, force: force) {
        case .removed(let items, let discarded):
            return .json(
                Answers.RemoveResult(table: table.text, removed: items, discarded: discarded))
        case .refusedPending(let count):
            throw Problem(
                status: .conflict, code: "operations-open",
                detail:
                    "The table \(table) has \(Self.notSent(count)), and all of them would be lost for "
                    + "good: say force (--force) to give them up.")
        case .refusedRunning:
            throw Problem(
                status: .conflict, code: "sending",
                detail: "A sync runs; try again when it has ended.")
        case .unknownTable: throw .notFound("There is no table \(table) here.")
        case .failed(let sentence): throw .unavailable(sentence)
        }
    }

    /// How many changes stand in the way of a removal.
    static func notSent(_ count: Int) -> String {
        count == 1
            ? "1 change that is not on the server" : "\(count) changes that are not on the server"
    }

    /// `GET /tables/{table}/items`: lists rows with their sync state.
    func items(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let query = try Self.query(call)
        let page = try await rows(call, tenant, table, query)
        let states = try await openOperations(tenant, table, page.items)
        let rows = page.items.map { item in
            Self.row(item, states[item.id.text])
        }
        // A page of no rows has no next one: it would be the same.
        let hasNext = page.hasMore && !page.items.isEmpty
        let next = hasNext ? String(query.skip + page.items.count) : nil
        return .json(
            Answers.Page(items: rows, next: next, total: page.count ?? rows.count))
    }

    /// The rows of the backend that are set aside, since they cannot be stored.
    func setAsideRows(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let limit = try call.limit()
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.setAsideRows(of: table, after: call.query["after"], limit: limit)
        }
        guard let page else { throw .notFound("There is no table \(table) here yet.") }
        return .json(Answers.Page(page) { Answers.SetAsideRow($0) })
    }

    private static func query(_ call: OperatorCall) throws(Problem) -> TableQuery {
        var parameters = [QueryParameter(name: "$inlinecount", value: "allpages", raw: "")]
        for (name, option) in [("filter", "$filter"), ("orderby", "$orderby")] {
            if let value = call.query[name], !value.isEmpty {
                parameters.append(QueryParameter(name: option, value: value, raw: ""))
            }
        }
        do {
            var query = try TableQuery.parse(parameters, generation: .mobileApps)
            query.top = try call.number("top", in: 0...Limits.pageRowsMax) ?? Limits.pageElements
            query.skip = try call.number("skip", in: 0...Int(Int32.max)) ?? 0
            query.includeDeleted = call.isOn("includeDeleted")
            return query
        } catch let error as ODataError {
            throw invalidQuery(error)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .invalid("\(error)")
        }
    }

    private static func invalidQuery(_ error: ODataError) -> Problem {
        var problem = Problem.invalid(error.description, code: "invalid-query")
        problem.position = error.position
        return problem
    }

    private func rows(
        _ call: OperatorCall, _ tenant: Tenant, _ table: TableName, _ query: TableQuery
    ) async throws(Problem) -> ItemPage {
        let text = call.query["q"].flatMap { $0.isEmpty ? nil : $0 }
        var outcome = await list(call, tenant, table, query, containing: text)
        // As for a client, the first read of a table pulls it.
        switch outcome {
        case .unknownTable, .partial:
            // A pull brings nothing of what is beyond the part of a table.
            let known = (try? await tenant.store.tables())?.first { TableName($0.name) == table }
            if known?.isComplete != true, tenant.backendStatus.mayPullForRead {
                let run = await tenant.engine.startPull(table)
                _ = await tenant.engine.result(
                    of: run, timeout: .seconds(Limits.firstPullSeconds))
                outcome = await list(call, tenant, table, query, containing: text)
            }
        case .page, .beyondPart, .invalid, .overBudget, .failed: break
        }
        switch outcome {
        case .page(let page), .partial(let page): return page
        case .unknownTable, .beyondPart: throw .notFound("There is no table \(table) here yet.")
        case .invalid(let error): throw Self.invalidQuery(error)
        case .overBudget: throw .invalid(LongReads.tooMuch)
        case .failed(let error): throw .unavailable(error.description)
        }
    }

    private func list(
        _ call: OperatorCall, _ tenant: Tenant, _ table: TableName, _ query: TableQuery,
        containing text: String?
    ) async -> ListOutcome {
        await withCheckedContinuation { continuation in
            let client = LongReads.Client(identity: tenant.identity, actor: .person)
            let isTaken = longReads.run(for: client, clientHasLeft: call.clientHasLeft) { reader in
                let outcome = reader.map {
                    let found = tenant.store.find(table, worker: $0)
                    var query = query
                    if let text {
                        query.filter = Self.filter(query.filter, found, containing: text)
                    }
                    return tenant.store.listUnhurried(
                        found, query, generation: .mobileApps, pageRows: Limits.pageRowsMax,
                        beyondPart: true, isAbandoned: call.clientHasLeft)
                }
                let left = ListOutcome.failed(.failed(LongReads.clientLeft))
                continuation.resume(returning: call.clientHasLeft() ? left : outcome ?? left)
            }
            if !isTaken { continuation.resume(returning: .failed(.failed(LongReads.tooMany))) }
        }
    }

    /// A filter for the rows that contain a text in their id or in a column, in any case of letters.
    private static func filter(
        _ filter: Expression?, _ table: FoundTable, containing text: String
    ) -> Expression {
        let needle = Expression.literal(.string(text.lowercased()))
        let names = table.settings?.columnNames ?? []
        let columns = [Expression.Column.id] + names.map { .user(path: [$0]) }
        let contains = columns.map { column in
            Expression.call(.contains, [.call(.toLower, [.column(column)]), needle])
        }
        let found = Expression.joined(.or, contains) ?? needle
        return filter.flatMap { Expression.joined(.and, [$0, found]) } ?? found
    }

    /// The open operations of these rows by item. Of several for one item it is the last one, which has the
    /// newest change.
    private func openOperations(
        _ tenant: Tenant, _ table: TableName, _ items: [Item]
    ) async throws(Problem) -> [String: OperationSummary] {
        var found: [String: OperationSummary] = [:]
        if items.isEmpty { return found }
        let shown = items.map(\.id.text)
        var cursor: String?
        repeat {
            let page = try await mappingErrors { () throws(StoreError) in
                try await tenant.store.operations(
                    OperationFilter(table: table.text, items: shown), after: cursor,
                    limit: Limits.pageElementsMax)
            }
            for operation in page.items {
                found[operation.itemID] = operation
            }
            cursor = page.next
        } while cursor != nil
        return found
    }

    /// One row. Columns of the user's with the names of system columns come beside the item, so that no
    /// name is in it twice.
    private static func row(
        _ item: Item, _ operation: OperationSummary?
    ) -> Answers.TableItem {
        var members: [JSONValue.Member] = [.init("id", .string(item.id.text))]
        var own: [JSONValue.Member] = []
        for column in item.columns.all {
            let member = JSONValue.Member(column.name, column.value.value)
            if SystemProperty(named: column.name, in: .mobileApps) == nil {
                members.append(member)
            } else {
                own.append(member)
            }
        }
        members += [
            .init("createdAt", .time(item.createdAt)), .init("updatedAt", .time(item.updatedAt)),
            .init("version", .string(item.version)), .init("deleted", .bool(item.deleted)),
        ]
        return Answers.TableItem(
            item: .init(.object(members)), ownColumns: own.isEmpty ? nil : .init(.object(own)),
            state: state(operation), operationState: operation?.state, operationId: operation?.id,
            reason: operation?.reason)
    }

    private static func state(_ operation: OperationSummary?) -> ItemState {
        switch operation?.state {
        case nil, .done, .discarded, .collapsed: .synced
        case .queued, .sending, .waiting, .unknown: .pending
        case .conflict: .conflict
        case .quarantined: .quarantined
        }
    }
}

// Indexes of tables.
extension OperatorAPI {
    /// Begins to build the index that a query needs.
    func buildIndex(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let query = try Self.indexedQuery(call.body)
        let start = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.startIndex(table, for: query)
        }
        let most = StoreLimits.indexesPerTable
        switch start {
        case .started(let id):
            // The list of tables shows how far it is.
            return .json(
                Answers.IndexStarted(id: id), status: .accepted,
                location: call.location("tables"))
        case .present(let id): return .json(Answers.IndexStarted(id: id))
        case .busy:
            throw Problem(
                status: .conflict, code: "index-busy",
                detail: "Another index is being made; wait for its end.")
        case .tooMany:
            throw Problem(
                status: .conflict, code: "too-many-indexes",
                detail: "A table has \(most) indexes at most: drop one first.")
        case .unknownTable: throw .notFound("There is no table \(table) here yet.")
        case .notServed:
            throw .invalid(
                "No index helps this query: it needs a column that is held to one value, or an order "
                    + "by a column.", code: "invalid-query")
        }
    }

    /// Drops an index.
    func dropIndex(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        guard let id = Int64(call.parameter("id")),
            try await mappingErrors({ () throws(StoreError) in
                try await tenant.store.dropIndex(table, id)
            })
        else { throw .notFound("The table \(table) has no such index.") }
        return Response(status: .noContent)
    }

    private static func indexedQuery(_ body: JSONValue) throws(Problem) -> TableQuery {
        guard let text = body["query"]?.string else {
            throw .invalid("Name the query that needs the index.")
        }
        do {
            let parameters = try QueryParameter.split(text[...])
            return try TableQuery.parse(parameters, generation: .mobileApps)
        } catch {
            throw .invalid("\(error)", code: "invalid-query")
        }
    }
}

// The backend's rows as they are known here: what a new backend begins with.
extension OperatorAPI {
    /// `GET /tables/{table}/server-rows`: the backend's rows as the store last heard of them.
    func serverRows(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let limit = try call.limit()
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.serverRows(of: table, after: call.query["after"], limit: limit)
        }
        guard let page else { throw .notFound("There is no table \(table) here yet.") }
        return .json(Answers.Page(page) { Answers.ServerRow($0) })
    }
}
