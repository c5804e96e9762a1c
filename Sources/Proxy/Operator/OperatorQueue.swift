import HTTPMessage
import SyncCore
import TablesProtocol

// The queue: operations and conflicts.
extension OperatorAPI {
    /// `GET /operations`: lists the queue.
    func operations(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let filter = try Self.filter(call)
        if let format = try ListFormat(call) {
            return try await exportOperations(call, tenant, filter, format)
        }
        let limit = try call.limit()
        let skip = try call.number("skip", in: 0...Int(Int32.max)) ?? 0
        let after = try call.cursor()
        let order = Self.order(call)
        if order != .queue, after != nil {
            throw .invalid(
                "after goes with the order of the queue; with another sort use skip.",
                parameter: "after")
        }
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.operations(
                filter, sorted: order, after: after, skip: skip, limit: limit)
        }
        return .json(page)
    }

    private static func order(_ call: OperatorCall) -> OperationOrder {
        call.query["sort"].flatMap(OperationOrder.init) ?? .queue
    }

    private func exportOperations(
        _ call: OperatorCall, _ tenant: Tenant, _ filter: OperationFilter, _ format: ListFormat
    ) async throws(Problem) -> Response {
        let list = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.allOperations(filter, sorted: Self.order(call))
        }
        return try export(
            call, tenant, format,
            ExportedList(list, named: "operations"))
    }

    /// `GET /operations/groups`: counts the operations that have a reason, by cause.
    func operationGroups(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let filter = try Self.filter(call)
        let limit = try call.limit()
        let groups = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.operationGroups(filter, limit: limit)
        }
        return .json(groups)
    }

    /// `POST /operations/outcomes`: says where some operations are now.
    func operationOutcomes(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let ids = (call.body["operations"]?.array ?? []).compactMap(\.string)
        let outcomes = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.outcomes(of: ids)
        }
        return .json(Page(outcomes))
    }

    private static func filter(_ call: OperatorCall) throws(Problem) -> OperationFilter {
        OperationFilter(
            states: try states(call.query["state"]), table: call.query["table"],
            text: call.query["q"], reason: call.query["reason"],
            status: try status(call.query["status"]) { .invalid($0, parameter: "status") },
            attempts: try call.number("attempts", in: 0...Int(Int32.max)),
            before: try before(call.query["before"]) { .invalid($0, parameter: "before") },
            actor: call.query["actor"], column: call.query["column"])
    }

    /// The time that a filter names. A text that is none must not select all times.
    private static func before(
        _ text: String?, refusal: (String) -> Problem
    ) throws(Problem) -> Instant? {
        guard let text else { return nil }
        guard let time = Instant(parsing: text) else {
            throw refusal("before must be a time such as 2026-03-14T09:26:53.589Z.")
        }
        return time
    }

    /// The status that a filter names: `none`, or a number of three digits.
    private static func status(
        _ word: String?, refusal: (String) -> Problem
    ) throws(Problem) -> OperationFilter.LastStatus? {
        guard let word else { return nil }
        if word == "none" { return .noAnswer }
        guard word.utf8.count == 3, let code = Int(word), 100...599 ~= code else {
            throw refusal("status must be a status such as 422, or none for no answer.")
        }
        return .code(code)
    }

    /// `GET /operations/{id}`: one operation with its attempts.
    func operation(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let detail = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.operation(call.parameter("id"))
        }
        guard let detail else { throw .notFound("There is no such operation.") }
        return .json(detail)
    }

    /// `POST /operations/{id}/retry`: lets an operation be tried again now.
    func retry(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let revision = try call.revision()
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.retry(call.parameter("id"), revision: revision)
        }
        return try actionResponse(outcome, noun: "operation")
    }

    /// `POST /operations/{id}/discard`: gives an operation up; the row becomes the backend's again.
    func discard(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let revision = try call.revision()
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.discard(call.parameter("id"), revision: revision)
        }
        return try actionResponse(outcome, noun: "operation")
    }

    /// `PATCH /operations/{id}`: edits what an open operation sends.
    func edit(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let revision = try call.revision()
        let columns = try await editedColumns("columns", call, tenant)
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.edit(call.parameter("id"), revision: revision, columns: columns)
        }
        return try actionResponse(outcome, noun: "operation")
    }

    /// `POST /operations/retry`: queues again what matches.
    func retryMany(_ call: OperatorCall) async throws(Problem) -> Response {
        try await bulk(.retry, call)
    }

    /// `POST /operations/discard`: discards what matches.
    func discardMany(_ call: OperatorCall) async throws(Problem) -> Response {
        try await bulk(.discard, call)
    }

    /// `POST /operations/assign`: gives what was written without a sign-in to the only user since.
    func assign(_ call: OperatorCall) async throws(Problem) -> Response {
        let isDryRun = call.body["dryRun"]?.bool ?? false
        do {
            let (matched, taken) = try await tenants.assign(
                to: call.body["identity"]?.string ?? "",
                isUndone: call.body["undo"]?.bool ?? false, isDryRun: isDryRun)
            return .json(
                BulkResult(
                    matched: matched, changed: isDryRun ? 0 : taken, refused: matched - taken,
                    dryRun: isDryRun))
        } catch {
            throw error as? Problem ?? .unavailable("\(error)")
        }
    }

    /// Does an action to all operations that match.
    func bulk(_ action: BulkAction, _ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let filter = try Self.selection(call.body)
        let dryRun = call.body["dryRun"]?.bool ?? false
        let limit = call.body["limit"]?.integer.map { Int($0) }
        let after = try call.bodyCursor()
        if after != nil, limit == nil {
            throw .invalid("after goes with limit: without it everything is done at once.")
        }
        if !dryRun, let limit {
            let part = try await mappingErrors { () throws(StoreError) in
                try await tenant.store.bulkPart(action, filter, after: after, limit: limit)
            }
            return .json(part)
        }
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.bulk(action, filter, dryRun: dryRun)
        }
        return .json(outcome)
    }

    /// The operations that a body selects by `filter`, or by `all` without a filter: what is done to all
    /// must be said, so that a filter that was forgotten does not do it.
    private static func selection(_ body: JSONValue) throws(Problem) -> OperationFilter {
        let given = body["filter"] ?? .object([])
        let isAll = body["all"]?.bool ?? false
        if (given == .object([])) != isAll {
            throw isAll
                ? .invalid("all goes with an empty filter: leave one of them out.", pointer: "/all")
                : .invalid(
                    "The filter is empty: say \"all\": true if all open operations are meant.",
                    pointer: "/filter")
        }
        // A blank text would match almost everything, or nothing.
        for name in ["table", "q", "reason", "actor", "column"] {
            guard let text = given[name]?.string, text.allSatisfy(\.isWhitespace) else { continue }
            let place = "/filter/\(name)"
            throw .invalid("\(place) is blank: leave it out, or give it a value.", pointer: place)
        }
        // A longer text would be cut, and match more than was meant.
        if let text = given["q"]?.string, text.count > StoreLimits.searchCharacters {
            throw .invalid(
                "/filter/q has more than \(StoreLimits.searchCharacters) characters: shorten it.",
                pointer: "/filter/q")
        }
        let words = given["state"]?.array?.compactMap(\.string).joined(separator: ",")
        return OperationFilter(
            states: try states(words), table: given["table"]?.string,
            text: given["q"]?.string, reason: given["reason"]?.string,
            status: try status(given["status"]?.string) {
                .invalid($0, pointer: "/filter/status")
            },
            attempts: given["attempts"]?.integer.map { Int($0) },
            before: try before(given["before"]?.string) {
                .invalid($0, pointer: "/filter/before")
            },
            actor: given["actor"]?.string, column: given["column"]?.string)
    }

    /// `POST /conflicts/resolve`: decides all conflicts that match by one choice. `edited` is for a single
    /// conflict only.
    func resolveAll(_ call: OperatorCall) async throws(Problem) -> Response {
        guard let resolution = Self.plainChoice(call.body) else {
            throw .invalid(
                "choice must be mine, server, merged, newest or both.", pointer: "/choice")
        }
        return try await bulk(
            .resolve(resolution, holdSeconds: Self.holdSeconds(call)), call)
    }

    /// `POST /conflicts/send`: ends the time in which decisions can be undone before they are sent.
    func sendDecisions(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let held = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.sendDecisions()
        }
        return .json(Answers.SentDecisions(held: held))
    }

    /// For how long a decision is held back; the description of the request has its bounds.
    private static func holdSeconds(_ call: OperatorCall) -> Int {
        call.body["holdSeconds"]?.integer.map { Int($0) } ?? 0
    }

    /// `GET /conflicts`: lists the open conflicts that match.
    func conflicts(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let filter = try Self.filter(call)
        if let format = try ListFormat(call) {
            let list = try await mappingErrors { () throws(StoreError) in
                try await tenant.store.allConflicts(filter)
            }
            return try export(call, tenant, format, ExportedList(list, named: "conflicts"))
        }
        let (limit, after) = (try call.limit(), try call.cursor())
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.conflicts(filter, after: after, limit: limit)
        }
        return .json(page)
    }

    /// `GET /conflicts/{id}`: one conflict.
    func conflict(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let detail = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.conflict(call.parameter("id"))
        }
        guard let detail else { throw .notFound("There is no such open conflict.") }
        return .json(detail)
    }

    /// `POST /conflicts/{id}/resolve`: decides a conflict.
    func resolve(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let revision = try call.revision()
        let resolution: Resolution
        if let choice = Self.plainChoice(call.body) {
            if call.body["item"] != nil {
                throw .invalid("item goes with the choice edited.", pointer: "/item")
            }
            resolution = choice
        } else {
            resolution = .edited(try await editedColumns("item", call, tenant))
        }
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.resolve(
                call.parameter("id"), revision: revision, resolution,
                holdSeconds: Self.holdSeconds(call))
        }
        return try actionResponse(outcome, noun: "open conflict")
    }

    /// The choice in a body; nil for `edited`, and for an invalid one.
    private static func plainChoice(_ body: JSONValue) -> Resolution? {
        switch body["choice"]?.string {
        case "mine": .mine
        case "server": .server
        case "merged": .merged
        case "newest": .newest
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
                throw .invalid("state must be all or some of \(all).", parameter: "state")
            }
            states.insert(state)
        }
        if states.isEmpty { throw .invalid("state names no state.", parameter: "state") }
        return states
    }

    /// The user columns of the object `name` in a body; its system columns are ignored. A name such as
    /// `createdAt` is a user column where the item of the call's operation has a column of its own with it,
    /// which backends of other generations allow.
    private func editedColumns(
        _ name: String, _ call: OperatorCall, _ tenant: Tenant
    ) async throws(Problem) -> Columns {
        var ignored = Self.systemColumns
        if case .object(let members) = call.body[name],
            members.contains(where: { ignored.contains($0.name) })
        {
            let detail = try await mappingErrors { () throws(StoreError) in
                try await tenant.store.operation(call.parameter("id"))
            }
            for row in [detail?.base, detail?.mine, detail?.server] {
                ignored.subtract(row?.names ?? [])
            }
        }
        return try Self.columns(call.body[name], name: name, without: ignored)
    }

    static func columns(
        _ value: JSONValue?, name: String, without ignored: Set<String>
    ) throws(Problem) -> Columns {
        guard case .object(let members) = value else {
            throw .invalid("\(name) must be an object with the columns.", pointer: "/\(name)")
        }
        let own = members.filter { !ignored.contains($0.name) }
        var spellings: [String: String] = [:]
        for column in own.map(\.name) {
            let key = column.lowercased()
            if key == "id" {
                throw .invalid(
                    "\(column) is the item's id in another spelling, and no column. Leave it out.",
                    pointer: "/\(name)")
            }
            if let other = spellings.updateValue(column, forKey: key), other != column {
                throw .invalid(
                    "\(other) and \(column) are two spellings of one column. Send it once.",
                    pointer: "/\(name)")
            }
        }
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
