import ArgumentParser
import HTTPMessage
import Proxy
import SyncCore
import TablesProtocol

/// `understudy queue …`.
struct Queue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The operations that wait, and what to do with them.",
        discussion: """
            They also work while no Understudy runs, on what the store holds.
            """,
        subcommands: [
            QueueList.self, QueueGroups.self, QueueShow.self, QueueEdit.self,
            QueueRetry.self, QueueDiscard.self,
        ], defaultSubcommand: QueueList.self)

    /// What keeps operations or groups from being sent, if one of them is queued.
    static func held(
        _ items: [JSONValue], _ client: OperatorClient
    ) async throws(StartProblem) -> String? {
        guard items.contains(where: { $0["state"]?.string == "queued" }) else { return nil }
        return try await Holding.read(client)
    }

    /// Does something with an operation as it is now.
    static func act(
        _ verb: String, _ id: String, _ client: OperatorClient
    ) async throws -> JSONValue {
        let path = "/operations/\(PercentCoding.encode(id))"
        let revision = try await client.get(path)["summary"]?["revision"] ?? .null
        return try await client.post("\(path)/\(verb)", [], .members(("revision", revision)))
    }
}

/// `understudy queue list`.
struct QueueList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List operations, in the order in which they are sent.",
        discussion: "JSON: {items: [operation], next, total}.")

    @OptionGroup var selection: QueueSelection
    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let query = page.query + selection.query
        let (list, held, users) = try await options.withOperatorOrStore { [options] client in
            let list = try await client.get("/operations", query)
            return (
                list, try await Queue.held(list["items"]?.array ?? [], client),
                try await UserStores.read(client, options)
            )
        }
        options.show(list) { TerminalText.operations($0, held: held) }
        if let hint = users?.hint { options.tell(hint) }
    }
}

/// `understudy queue groups`.
struct QueueGroups: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups", abstract: "Count operations by state, status and cause.",
        discussion: """
            Where reasons differ only in numbers, ids, dates and quoted values, these stand as #, \
            <id>, <date> and “…”. A reason as it stands here is what --reason of the other commands \
            takes. Operations without one wait for their turn; where something holds queued ones, \
            the last line says what. JSON: {items: [{state, status, reason, count, since, \
            firstTriedAt, lastTriedAt}], next, total, held}; for those without a reason, all but \
            state and count are null.
            """)

    @OptionGroup var selection: QueueSelection
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let (list, users) = try await options.withOperatorOrStore { [options] client in
            let answer = try await client.get(
                "/operations/groups",
                selection.query + [("limit", String(Proxy.Limits.pageElementsMax))])
            let groups = Self.adding(try await countsByState(client), to: answer)
            let held = try await Queue.held(groups["items"]?.array ?? [], client)
            return (
                Self.adding(held: held, to: groups), try await UserStores.read(client, options)
            )
        }
        options.show(list, TerminalText.groups)
        if let hint = users?.hint { options.tell(hint) }
    }

    /// How many operations match in each state; nothing where a reason selects them.
    private func countsByState(_ client: OperatorClient) async throws -> [(String, Int64)] {
        if selection.reason != nil { return [] }
        var counts: [(String, Int64)] = []
        for state in selection.states {
            var one = selection
            one.state = state
            let page = try await client.get("/operations", one.query + [("limit", "1")])
            counts.append((state, page["total"]?.integer ?? 0))
        }
        return counts
    }

    /// The groups with what keeps queued operations from being sent.
    private static func adding(held: String?, to groups: JSONValue) -> JSONValue {
        guard case .object(let members) = groups else { return groups }
        return .object(members + [.init("held", .text(held))])
    }

    /// The groups, and for each state those of its operations that have no reason.
    static func adding(_ counts: [(String, Int64)], to groups: JSONValue) -> JSONValue {
        var items = groups["items"]?.array ?? []
        // A list that was cut does not say how many have a reason.
        guard groups["total"]?.integer ?? 0 < Proxy.Limits.pageElementsMax else { return groups }
        for (state, count) in counts {
            let withReason = items.filter { $0["state"]?.string == state }
                .reduce(0) { $0 + ($1["count"]?.integer ?? 0) }
            if count > withReason {
                items.append(
                    .members(
                        ("state", .string(state)), ("status", .null), ("reason", .null),
                        ("count", .number(count - withReason)), ("since", .null),
                        ("firstTriedAt", .null), ("lastTriedAt", .null)))
            }
        }
        return .members(
            ("items", .array(items)), ("next", .null), ("total", .number(items.count)))
    }
}

/// `understudy queue show ID`.
struct QueueShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One operation with all its attempts.",
        discussion: "JSON: {summary, payload, base, mine, server, headers, attempts}.")

    @Argument(help: "Its id.", completion: .operations)
    var id: String
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let (detail, held) = try await options.withOperatorOrStore { client in
            let detail = try await client.get("/operations/\(PercentCoding.encode(id))")
            return (detail, try await Queue.held([detail["summary"] ?? .null], client))
        }
        options.show(detail) { TerminalText.detail($0, held: held) }
    }
}

/// `understudy queue edit ID COLUMN=VALUE…`.
struct QueueEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change what an operation sends, and the item with it.",
        discussion: """
            A value is JSON, or text where it is no JSON: complete=true is a boolean, text=Milk a \
            text, text='"true"' a text too, note=null takes the value away. Columns that are not \
            named stay. JSON: {operation}.
            """)

    @Argument(help: "Its id.", completion: .operations)
    var id: String
    @Argument(help: "The columns with their new values.")
    var columns: [String]
    @OptionGroup var options: ClientOptions

    /// What an edit cannot change, in the spellings of every generation.
    private static let ofBackend: Set<String> = [
        "id", "version", "createdAt", "updatedAt", "__version", "__createdAt", "__updatedAt",
    ]

    /// Throws if a column is the backend's. In generation 1 a row may have columns of its own with such a name.
    static func check(
        _ members: [JSONValue.Member], of operation: JSONValue
    ) throws(StartProblem) {
        for member in members where ofBackend.contains(member.name) {
            if member.name != "id", operation["payload"]?[member.name] != nil { continue }
            throw StartProblem(
                "\(member.name) cannot be edited: the backend gives it. Name a column of the row.")
        }
    }

    func run() async throws {
        let members = try columns.map { try JSONValue.Member(assignment: $0) }
        let result = try await options.withOperatorOrStore { client in
            let path = "/operations/\(PercentCoding.encode(id))"
            let operation = try await client.get(path)
            try Self.check(members, of: operation)
            let revision = operation["summary"]?["revision"] ?? .null
            return try await client.patch(
                path, .members(("revision", revision), ("columns", .object(members))))
        }
        options.show(result, TerminalText.action)
    }
}

/// `understudy queue retry ID`, or `--all`.
struct QueueRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send an operation, or all that match, again now.",
        discussion: "JSON: {operation}; with --all {matched, changed, refused, dryRun}.")

    @OptionGroup var target: QueueTarget
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let result = try await options.withOperatorOrStore { client in
            if let id = target.id { return try await Queue.act("retry", id, client) }
            return try await client.post(
                "/operations/retry", [], target.selection.request(dryRun: target.dryRun))
        }
        options.show(result) {
            target.all ? TerminalText.bulk($0, "to be sent again") : TerminalText.action($0)
        }
    }
}

/// `understudy queue discard ID`, or `--all`.
struct QueueDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Give an operation, or all that match, up.",
        discussion: """
            The change never reaches the backend; the item goes back to the backend's. The history \
            keeps what was given up, and can undo it. JSON: {operation}; with --all {matched, \
            changed, refused, dryRun}.
            """)

    @OptionGroup var target: QueueTarget
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let result = try await options.withOperatorOrStore { client in
            if let id = target.id {
                try confirmation.confirm("The change of operation \(id) is given up")
                return try await Queue.act("discard", id, client)
            }
            let selection = target.selection
            let planned = try await client.post(
                "/operations/discard", [], selection.request(dryRun: true))
            if target.dryRun { return planned }
            let count = planned["matched"]?.integer ?? 0
            let changes = count == 1 ? "1 change is" : "\(count) changes are"
            // Operations that come after the plan were not confirmed.
            if count == 0 { return JSONValue.nothingMatched }
            try confirmation.confirm("\(changes) given up")
            return try await client.post(
                "/operations/discard", [], selection.request(dryRun: false))
        }
        options.show(result) {
            target.all ? TerminalText.bulk($0, "given up") : TerminalText.action($0)
        }
    }
}

/// The options that select operations of the queue.
struct QueueSelection: ParsableArguments {
    @Option(
        help: "States with commas, or all; the open ones unless given.",
        completion: .list(OperationState.allCases.map(\.rawValue) + ["all"]))
    var state: String?

    @Option(help: "Only of this table.", completion: .tables)
    var table: String?

    @Option(help: "Only those that contain this text.")
    var text: String?

    @Option(help: "Only those with this reason, or with this one of 'queue groups'.")
    var reason: String?

    func validate() throws {
        let given = [("state", state), ("table", table), ("text", text), ("reason", reason)]
        for (name, value) in given where value?.isEmpty == true {
            throw ValidationError(
                "--\(name) must be given with a text that is not empty, or left out.")
        }
    }

    /// The options as query pairs of a list.
    var query: [(String, String?)] {
        [("state", state), ("table", table), ("q", text), ("reason", reason)]
    }

    /// The states that are meant.
    var states: [String] {
        switch state {
        case nil: OperationState.allCases.filter(\.isOpen).map(\.rawValue)
        case "all"?: OperationState.allCases.map(\.rawValue)
        case let words?: words.split(separator: ",").map(String.init)
        }
    }

    /// Whether no option was given.
    var isEmpty: Bool { query.allSatisfy { $0.1 == nil } }

    /// The options as the body of an action on all that match.
    func request(dryRun: Bool) -> JSONValue {
        var filter: [JSONValue.Member] = []
        // An action is for open operations alone, which are meant without a state.
        if let state, state != "all" {
            let words = state.split(separator: ",").map { JSONValue.string(String($0)) }
            filter.append(.init("state", .array(words)))
        }
        if let table { filter.append(.init("table", .string(table))) }
        if let text { filter.append(.init("q", .string(text))) }
        if let reason { filter.append(.init("reason", .string(reason))) }
        return .selection(filter, [.init("dryRun", .bool(dryRun))])
    }
}

extension JSONValue {
    /// The body of an action on all that match a filter. Without a filter it says that all are meant: only
    /// commands that name all in words may have none.
    static func selection(_ filter: [Member], _ more: [Member]) -> JSONValue {
        let all: [Member] = filter.isEmpty ? [.init("all", .bool(true))] : []
        return .object([.init("filter", .object(filter))] + all + more)
    }

    /// The answer of an action on all that match, where none did.
    static let nothingMatched = JSONValue.members(
        ("matched", .number(0)), ("changed", .number(0)), ("refused", .number(0)),
        ("dryRun", .bool(false)))
}

/// One operation, or all that match.
struct QueueTarget: ParsableArguments {
    @Argument(help: "The operation's id.", completion: .operations)
    var id: String?

    @Flag(help: "All open operations that match the options below instead of one.")
    var all = false

    @Flag(help: "With --all: only say how many there are.")
    var dryRun = false

    @OptionGroup var selection: QueueSelection

    func validate() throws {
        if (id == nil) != all {
            throw ValidationError("Name one operation by its id, or say --all.")
        }
        if id != nil, dryRun || !selection.isEmpty {
            throw ValidationError("--dry-run and the filters go with --all.")
        }
    }
}
