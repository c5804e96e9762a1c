import HTTPMessage
import HTTPTypes
package import SyncCore
import TablesProtocol

/// The rows of a table with their sync state.
package struct RowRoutes: Sendable {
    let tenants: TenantRegistry
    /// The lane of the operator's lists, which clients' lists do not use.
    let longReads: LongReads
    let exports: ListExport

    package static let list = Route<Page<Answers.TableItem>>(
        .get, "/tables/{table}/items", "tableItems", .tables, "Rows with their sync state",
        answers: "One page.", names: TableRoutes.name,
        query: [filter, text, orderby, top, skip, includeDeleted, Fields.format])

    var routes: [OperatorRoute] { [.later(Self.list, tenants, list)] }

    package static let filter = Field<String>("filter", .anyText, "OData `$filter`.")
    package static let text = Field<String>(
        "q", .anyText, "Text that the id or a column of a row contains, in any case of letters.")
    package static let orderby = Field<String>("orderby", .anyText, "OData `$orderby`.")
    package static let top = Field<Int>(
        "top", .integer(0...Limits.pageRowsMax),
        "Rows of a page; \(Limits.pageElements) unless given.")
    package static let skip = Field<Int>(
        "skip", .integer(0...Int(Int32.max)),
        "Rows to leave out at the start; `next` is the value for the next page.")
    package static let includeDeleted = Field<Bool>(
        "includeDeleted", .boolean, "Tombstones too.")

    private func list(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answered<Page<Answers.TableItem>> {
        let table = try call.table()
        let query = try Self.query(call.query)
        if let format = try ListFormat(of: call) {
            return try await export(call, tenant, table, query, format)
        }
        let page = try await rows(call, tenant, table, query)
        let states = try await tenant.store.openOperations(table, page.items)
        let rows = page.items.map { Self.row($0, states[$0.id.text]) }
        // A page of no rows has no next one: it would be the same.
        let hasNext = page.hasMore && !page.items.isEmpty
        let next = hasNext ? String(query.skip + page.items.count) : nil
        return Answered(.init(items: rows, next: next, total: page.count ?? rows.count))
    }

    private static func text(_ call: OperatorCall) -> String? {
        call.query[text].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func query(_ given: JSONValue) throws(Problem) -> TableQuery {
        var parameters = [QueryParameter(name: "$inlinecount", value: "allpages", raw: "")]
        for (field, option) in [(filter, "$filter"), (orderby, "$orderby")] {
            if let value = given[field], !value.isEmpty {
                parameters.append(QueryParameter(name: option, value: value, raw: ""))
            }
        }
        do throws(ODataError) {
            var query = try TableQuery.parse(parameters, generation: .mobileApps)
            query.top = given[top] ?? Limits.pageElements
            query.skip = given[skip] ?? 0
            query.includeDeleted = given[includeDeleted] ?? false
            return query
        } catch {
            throw invalidQuery(error)
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
        let text = Self.text(call)
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
        case .unknownTable, .beyondPart, .invalid, .overBudget, .failed:
            throw Self.problem(outcome, table)
        }
    }

    private static func problem(_ outcome: ListOutcome, _ table: TableName) -> Problem {
        switch outcome {
        case .unknownTable, .beyondPart, .page, .partial:
            .notFound("There is no table \(table) here yet.")
        case .invalid(let error): invalidQuery(error)
        case .overBudget: .invalid(LongReads.tooMuch)
        case .failed(let error): .unavailable(error.description)
        }
    }

    private func list(
        _ call: OperatorCall, _ tenant: Tenant, _ table: TableName, _ query: TableQuery,
        containing text: String?
    ) async -> ListOutcome {
        let outcome = await onLane(tenant, clientHasLeft: call.clientHasLeft) { reader in
            let found = tenant.store.find(table, worker: reader)
            return tenant.store.listUnhurried(
                found, Self.query(query, found, containing: text), generation: .mobileApps,
                pageRows: Limits.pageRowsMax, beyondPart: true, isAbandoned: call.clientHasLeft)
        }
        return switch outcome {
        case .success(let outcome): outcome
        case .failure(let error): .failed(error)
        }
    }

    /// Runs `body` with the number of a reader, on the thread for the operator's lists.
    private func onLane<Value: Sendable>(
        _ tenant: Tenant, clientHasLeft: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable (Int) -> Value
    ) async -> Result<Value, StoreError> {
        await withCheckedContinuation { continuation in
            let client = LongReads.Client(identity: tenant.identity, actor: .person)
            let isTaken = longReads.run(for: client, clientHasLeft: clientHasLeft) { reader in
                let left = Result<Value, StoreError>.failure(.failed(LongReads.clientLeft))
                let value = reader.map(body)
                continuation.resume(
                    returning: clientHasLeft() ? left : value.map { .success($0) } ?? left)
            }
            if !isTaken {
                continuation.resume(returning: .failure(.failed(LongReads.tooMany)))
            }
        }
    }

    private static func query(
        _ query: TableQuery, _ table: FoundTable, containing text: String?
    ) -> TableQuery {
        guard let text else { return query }
        var query = query
        query.filter = filter(query.filter, table, containing: text)
        return query
    }

    /// A filter for the rows that contain a text in their id or in a column, in any case of letters.
    private static func filter(
        _ filter: Expression?, _ table: FoundTable, containing text: String
    ) -> Expression {
        let needle = Expression.literal(.string(text.lowercased()))
        let names = table.record?.columnNames ?? []
        let columns = [Expression.Column.id] + names.map { .user(path: [$0]) }
        let contains = columns.map { column in
            Expression.call(.contains, [.call(.toLower, [.column(column)]), needle])
        }
        let found = Expression.joined(.or, contains) ?? needle
        return filter.flatMap { Expression.joined(.and, [$0, found]) } ?? found
    }

    /// One row. Columns of the user's with the names of system columns come beside the item, so that no
    /// name is in it twice.
    private static func row(
        _ item: Item, _ operation: OperationSummary?
    ) -> Answers.TableItem {
        let columns = item.columns.all
        let time = { (time: Instant?) in time.map { JSONText.string($0.text) } ?? .null }
        let isOwn = { SystemProperty(named: $0, in: .mobileApps) != nil }
        let own = columns.filter { isOwn($0.name) }
        let row = Columns(
            [.init("id", .string(item.id.text))] + columns.filter { !isOwn($0.name) } + [
                .init("createdAt", time(item.createdAt)),
                .init("updatedAt", time(item.updatedAt)),
                .init("version", .string(item.version)), .init("deleted", .bool(item.deleted)),
            ])
        return Answers.TableItem(
            item: row, ownColumns: own.isEmpty ? nil : Columns(own),
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

// All rows that match.
extension RowRoutes {
    private func export(
        _ call: OperatorCall, _ tenant: Tenant, _ table: TableName, _ query: TableQuery,
        _ format: ListFormat
    ) async throws(Problem) -> Answered<Page<Answers.TableItem>> {
        var query = query
        (query.top, query.count) = (nil, false)
        let (asked, text) = (query, Self.text(call))
        let lookUp = await onLane(tenant, clientHasLeft: call.clientHasLeft) { reader in
            let found = tenant.store.find(table, worker: reader)
            let numbers = tenant.store.rowNumbers(
                found, Self.query(asked, found, containing: text), isAbandoned: call.clientHasLeft)
            return (numbers, found.record?.columnNames ?? [])
        }
        let numbers: [Int64]
        let names: [String]
        switch lookUp {
        case .failure(let error): throw .unavailable(error.description)
        case .success((.failure(let none), _)): throw Self.problem(none.outcome, table)
        case .success((.success(let found), let known)): (numbers, names) = (found, known)
        }
        // Rows are written in parts, some of which may be deleted meanwhile.
        let list = ExportedList(
            named: table.text, columns: Self.columns(names), numbers: numbers
        ) { [self] numbers throws(StoreError) in
            let items = try await onLane(tenant, clientHasLeft: { false }) { reader in
                let found = tenant.store.find(table, worker: reader)
                return Result { () throws(StoreError) in
                    try tenant.store.rows(found, numbers: numbers)
                }
            }.get().get().filter { !$0.deleted || asked.includeDeleted }
            let states = try await tenant.store.openOperations(table, items)
            return items.map { item in
                let row = JSONValue(answer: Self.row(item, states[item.id.text]))
                return format == .csv ? Self.flat(row) : row
            }
        }
        return try exports.answer(call, tenant, format, list)
    }

    /// The columns of a CSV of rows with these columns of the user's.
    private static func columns(_ names: [String]) -> [String] {
        let own = names.filter { SystemProperty(named: $0, in: .mobileApps) == nil }
        let sync = ["ownColumns", "state", "operationState", "operationId", "reason"]
        return ["id"] + own + ["createdAt", "updatedAt", "version", "deleted"]
            + sync.map(inFlatRow)
    }

    /// The name of what is beside the item, where both are in one row: the user's columns may be named so too.
    private static func inFlatRow(_ name: String) -> String { "sync.\(name)" }

    private static func flat(_ row: JSONValue) -> JSONValue {
        guard case .object(let members) = row, case .object(let item)? = row["item"] else {
            return row
        }
        let sync = members.filter { $0.name != "item" }
        return .object(item + sync.map { .init(inFlatRow($0.name), $0.value) })
    }
}

extension Store {
    /// The open operations of these rows by item. Of several for one item it is the last one, which has the
    /// newest change.
    fileprivate func openOperations(
        _ table: TableName, _ items: [Item]
    ) async throws(StoreError) -> [String: OperationSummary] {
        var found: [String: OperationSummary] = [:]
        if items.isEmpty { return found }
        let filter = OperationFilter(table: table.text, items: items.map(\.id.text))
        var cursor: String?
        repeat {
            let page = try await lists.operations(
                filter, after: cursor, limit: Limits.pageElementsMax)
            for operation in page.items { found[operation.itemID] = operation }
            cursor = page.next
        } while cursor != nil
        return found
    }
}
