import HTTPMessage
import SyncCore
import TablesProtocol

// The queue: operations and conflicts.
extension OperatorAPI {
    func operations(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let filter = try Self.filter(call)
        let limit = try call.limit()
        let skip = try call.number("skip", in: 0...Int(Int32.max)) ?? 0
        let order = try Self.order(call.query["sort"])
        if order != .queue, call.query["after"] != nil {
            throw .invalid("after goes with the order of the queue; with another sort use skip.")
        }
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.operations(
                filter, sorted: order, after: call.query["after"], skip: skip, limit: limit)
        }
        return .json(.page(page) { .operation($0) })
    }

    private static func order(_ word: String?) throws(Problem) -> OperationOrder {
        guard let word else { return .queue }
        guard let order = OperationOrder(rawValue: word) else {
            let all = OperationOrder.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("sort must be one of \(all).")
        }
        return order
    }

    func operationGroups(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let filter = try Self.filter(call)
        let limit = try call.limit()
        let groups = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.operationGroups(filter, limit: limit)
        }
        return .json(.page(groups) { .group($0) })
    }

    private static func filter(_ call: OperatorCall) throws(Problem) -> OperationFilter {
        OperationFilter(
            states: try states(call.query["state"]), table: call.query["table"],
            text: call.query["q"], reason: call.query["reason"],
            status: try status(call.query["status"]),
            attempts: try call.number("attempts", in: 0...Int(Int32.max)),
            before: try before(call.query["before"]))
    }

    /// The status that a filter names: `none`, or a number of three digits.
    private static func status(_ word: String?) throws(Problem) -> OperationFilter.LastStatus? {
        guard let word else { return nil }
        if word == "none" { return .noAnswer }
        guard let code = Int(word), 100...599 ~= code else {
            throw .invalid("status must be a status such as 422, or none for no answer.")
        }
        return .code(code)
    }

    private static func before(_ text: String?) throws(Problem) -> Instant? {
        guard let text else { return nil }
        guard let instant = Instant(parsing: text) else {
            throw .invalid("before must be a time such as 2026-01-31T12:00:00Z.")
        }
        return instant
    }

    func operation(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let detail = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.operation(call.parameter("id"))
        }
        guard let detail else { throw .notFound("There is no such operation.") }
        return .json(.operation(detail))
    }

    func retry(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let revision = try OperatorCall.revision(try call.body())
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.retry(call.parameter("id"), revision: revision)
        }
        return try actionResponse(outcome, noun: "operation")
    }

    func discard(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let revision = try OperatorCall.revision(try call.body())
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.discard(call.parameter("id"), revision: revision)
        }
        return try actionResponse(outcome, noun: "operation")
    }

    func edit(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let body = try call.body()
        let revision = try OperatorCall.revision(body)
        let columns = try Self.columns(body["columns"], name: "columns")
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.edit(call.parameter("id"), revision: revision, columns: columns)
        }
        return try actionResponse(outcome, noun: "operation")
    }

    func bulk(_ action: BulkAction, _ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let body = try call.body()
        let filter = try Self.filter(body)
        let dryRun = body["dryRun"]?.bool ?? false
        if !dryRun, let limit = body["limit"] {
            guard let limit = limit.integer.flatMap({ Int(exactly: $0) }),
                1...Limits.pageElementsMax ~= limit
            else { throw .invalid("limit must be from 1 to \(Limits.pageElementsMax).") }
            let part = try await mappingErrors { () throws(StoreError) in
                try await tenant.store.bulkPart(
                    action, filter, after: body["after"]?.string, limit: limit)
            }
            return .json(.bulk(part))
        }
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.bulk(action, filter, dryRun: dryRun)
        }
        return .json(.bulk(outcome, dryRun: dryRun))
    }

    private static func filter(_ body: JSONValue) throws(Problem) -> OperationFilter {
        guard let given = body["filter"], case .object = given else {
            throw .invalid("filter must be an object; an empty one means all open operations.")
        }
        let words = (given["state"]?.array ?? []).compactMap(\.string).joined(separator: ",")
        let attempts = given["attempts"]?.integer.flatMap { Int(exactly: $0) }
        guard given["attempts"] == nil || attempts.map({ $0 >= 0 }) == true else {
            throw .invalid("attempts must be a whole number of at least 0.")
        }
        return OperationFilter(
            states: try states(words.isEmpty ? nil : words), table: given["table"]?.string,
            text: given["q"]?.string, reason: given["reason"]?.string,
            status: try status(given["status"]?.string), attempts: attempts,
            before: try before(given["before"]?.string))
    }

    /// Resolves all conflicts that match by one choice. `edited` is for a single conflict only.
    func resolveAll(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let body = try call.body()
        let filter = try Self.filter(body)
        guard let resolution = Self.plainChoice(body) else {
            throw .invalid("choice must be mine, server, merged or both.")
        }
        let dryRun = body["dryRun"]?.bool ?? false
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.resolveAll(filter, resolution, dryRun: dryRun)
        }
        return .json(.bulk(outcome, dryRun: dryRun))
    }

    func conflicts(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let limit = try call.limit()
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.conflicts(after: call.query["after"], limit: limit)
        }
        return .json(.page(page) { .conflict($0) })
    }

    func conflict(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let detail = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.conflict(call.parameter("id"))
        }
        guard let detail else { throw .notFound("There is no such open conflict.") }
        return .json(.conflict(detail))
    }

    func resolve(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let body = try call.body()
        let revision = try OperatorCall.revision(body)
        let resolution: Resolution
        if let choice = Self.plainChoice(body) {
            resolution = choice
        } else if body["choice"]?.string == "edited" {
            resolution = .edited(try Self.columns(body["item"], name: "item"))
        } else {
            throw .invalid("choice must be mine, server, merged, both or edited.")
        }
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.resolve(call.parameter("id"), revision: revision, resolution)
        }
        return try actionResponse(outcome, noun: "open conflict")
    }

    /// The choice in a body; nil for `edited`, and for an invalid one.
    private static func plainChoice(_ body: JSONValue) -> Resolution? {
        switch body["choice"]?.string {
        case "mine": .mine
        case "server": .server
        case "merged": .merged
        case "both": .both
        default: nil
        }
    }

    /// The states that a query names; nil without any, which means the open ones.
    private static func states(_ text: String?) throws(Problem) -> Set<OperationState>? {
        guard let text, !text.isEmpty else { return nil }
        if text == "all" { return Set(OperationState.allCases) }
        var states: Set<OperationState> = []
        for word in text.split(separator: ",") {
            guard let state = OperationState(rawValue: String(word)) else {
                let all = OperationState.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalid("state must be all or some of \(all).")
            }
            states.insert(state)
        }
        return states
    }

    /// The user columns of an object; its system columns are ignored.
    static func columns(_ value: JSONValue?, name: String) throws(Problem) -> Columns {
        guard case .object(let members) = value else {
            throw .invalid("\(name) must be an object with the columns.")
        }
        let own = members.filter { !systemColumns.contains($0.name) }
        do {
            return try Columns(parsing: JSONValue.object(own).text)
        } catch {
            throw .invalid("\(name) cannot be read: \(error)")
        }
    }

    private static let systemColumns: Set<String> = [
        "id", "createdAt", "updatedAt", "version", "deleted",
    ]
}
