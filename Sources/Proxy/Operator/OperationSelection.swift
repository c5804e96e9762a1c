package import SyncCore
package import TablesProtocol

/// Which operations a request means: the parameters of a list, and the body of an action on all that match.
package enum OperationSelection {
    // Which operations a list has.
    package static let state = Field<String>(
        "state", .anyText, "States with commas; the open ones unless given, `all` for all.")
    package static let table = Field<String>("table", .anyText, "Only this table.")
    package static let text = Field<String>(
        "q", .anyText, "Text that id, item id, table, payload or error contains.")
    package static let reason = Field<String>(
        "reason", .anyText,
        "Only operations with exactly this reason, or with this `reason` of a group.")
    package static let status = Field<String>(
        "status", .anyText,
        "Only operations whose last answer had this status; `none`: without an answer.",
        keywords: ["pattern": statusPattern])
    static let attempts = Field<Int>(
        "attempts", .integer(0...Int(Int32.max)),
        "Only operations with at least so many attempts.")
    package static let before = Field<Instant>(
        "before", .time, "Only operations that were accepted before this time.")
    package static let actor = Field<String>(
        "actor", .someText,
        "Only changes of `client`, `person`, or the client with an address of this name.")
    package static let column = Field<String>(
        "column", .someText, "Only changes that write this column, in any case.")
    static let filter: [any RequestField] = [
        state, table, text, reason, status, attempts, before, actor, column,
    ]
    private static let statusPattern = JSONValue.string("^(none|[1-5][0-9][0-9])$")
    // Which operations an action is for.
    package static let states = Field<[OperationState]>(
        "state",
        .list(.words(of: OperationState.self, name: "OperationState"), counts: 1...Int.max),
        "The open ones unless given.")
    private static let attemptsAtLeast = Field<Int>(
        "attempts", .integer(1...Int(Int32.max)),
        "At least so many attempts. 0 would select every operation.")
    private static let selectors: [any RequestField] = [
        states, Field<String>("table", .someText),
        Field<String>("q", .someText, text.description.sentence),
        Field<String>("reason", .someText, "Exactly this reason, or this `reason` of a group."),
        Field<String>(
            "status", .anyText, "The status of the last answer; `none`: without an answer.",
            keywords: ["pattern": statusPattern, "examples": .array([.string("422")])]),
        attemptsAtLeast,
        Field<Instant>(
            "before", .time, "Accepted before this time.",
            keywords: ["examples": .array([.string("2026-01-31T12:00:00Z")])]),
        Field<String>(
            "actor", .someText,
            "`client`, `person`, or the name of a client with an address of its own."),
        Field<String>("column", .someText, "A column that the change writes."),
    ]
    package static let selection = Field<JSONValue>(
        "filter", .object(selectors, name: "OperationFilter"))
    package static let all = Field<Bool>(
        "all", .boolean,
        "True: all open operations. It must be said where the filter is empty or left out, and only there."
    )
    static let part = Field<Int>(
        "limit", .integer(1...Limits.pageElementsMax),
        "Do it to so many of them, latest first, and name them; all at once unless given.")
    static let partAfter = Field<String>(
        "after", .nullable(.anyText), "With `limit`: the `next` of the part before.")
    static let bulk: [any RequestField] = [
        selection, all, Fields.dryRun, part, partAfter,
    ]
}

extension OperatorCall {
    /// Does an action to all operations that match.
    func bulk(_ action: BulkAction, _ tenant: Tenant) async throws -> BulkResult {
        let filter = try OperationFilter(selectedBy: body)
        let limit = body[OperationSelection.part]
        let after = body[OperationSelection.partAfter]
        if let after, !Cursor.isCursor(after) {
            throw Problem.invalid(Self.noCursor, pointer: "/after")
        }
        if after != nil, limit == nil {
            throw Problem.invalid("after goes with limit: without it everything is done at once.")
        }
        if !isDryRun, let limit {
            return try await tenant.store.bulkPart(action, filter, after: after, limit: limit)
        }
        return try await tenant.store.bulk(action, filter, dryRun: isDryRun)
    }
}

extension OperationFilter {
    /// The filter of a list.
    init(_ query: JSONValue) throws(Problem) {
        try self.init(query, states: Self.states(query[OperationSelection.state])) {
            .invalid($0, parameter: $1)
        }
    }

    /// The operations that a body selects by `filter`, or by `all` without a filter: what is done to all
    /// must be said, so that a filter that was forgotten does not do it.
    fileprivate init(selectedBy body: JSONValue) throws(Problem) {
        let given = body[OperationSelection.selection] ?? .object([])
        let isAll = body[OperationSelection.all] ?? false
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
        if let text = given[OperationSelection.text], text.count > StoreLimits.searchCharacters {
            throw .invalid(
                "/filter/q has more than \(StoreLimits.searchCharacters) characters: shorten it.",
                pointer: "/filter/q")
        }
        try self.init(given, states: given[OperationSelection.states].map { Set($0) }) {
            .invalid($0, pointer: "/filter/\($1)")
        }
    }

    /// - Parameter refusal: makes the problem of a sentence about a field.
    private init(
        _ given: JSONValue, states: Set<OperationState>?,
        refusal: (_ sentence: String, _ name: String) -> Problem
    ) throws(Problem) {
        var status: LastStatus?
        if let word = given[OperationSelection.status] {
            let code = word.utf8.count == 3 ? Int(word) : nil
            guard word == "none" || code.map({ 100...599 ~= $0 }) ?? false else {
                throw refusal(
                    "status must be a status such as 422, or none for no answer.", "status")
            }
            status = code.map { .code($0) } ?? .noAnswer
        }
        self.init(
            states: states, table: given[OperationSelection.table],
            text: given[OperationSelection.text],
            reason: given[OperationSelection.reason], status: status,
            attempts: given[OperationSelection.attempts], before: given[OperationSelection.before],
            actor: given[OperationSelection.actor], column: given[OperationSelection.column])
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
}
