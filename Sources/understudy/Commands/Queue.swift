import ArgumentParser
import HTTPMessage
import Platform
import Proxy
import SyncCore
import TablesProtocol

struct Queue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The operations that wait, and what to do with them.",
        discussion: """
            They also work while no Understudy runs, on what the store holds.
            """,
        subcommands: [
            QueueList.self, QueueGroups.self, QueueShow.self, QueueEdit.self,
            QueueRetry.self, QueueDiscard.self, QueueAssign.self,
        ], defaultSubcommand: QueueList.self)

    /// What keeps operations or groups from being sent, if one of them is queued.
    static func held(
        _ states: [OperationState], _ client: OperatorClient
    ) async throws(StartProblem) -> String? {
        states.contains(.queued) ? try await Holding.read(client) : nil
    }

    /// Does something with an operation as it is now.
    static func act(
        _ route: Route<Answers.ActionResult>, _ id: String, _ client: OperatorClient
    ) async throws -> Answers.ActionResult {
        let operation = try await client.answer(QueueRoutes.show(id))
        return try await client.answer(
            route(id, body: [QueueRoutes.revision(operation.summary.revision)]))
    }
}

/// An answer, with what keeps its queued operations from being sent, which only its lines say.
struct Held<Answer: Encodable & Sendable>: Encodable, Sendable {
    let answer: Answer
    let held: String?

    func encode(to encoder: any Encoder) throws { try answer.encode(to: encoder) }
}

struct QueueList: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List operations, in the order in which they are sent.",
        discussion: "JSON: {items: [operation], next, total}.")
    static let hintsAtUsers = true

    @OptionGroup var selection: QueueSelection
    @Option(
        help: ArgumentHelp(
            "The order: \(OperationOrder.allCases.map(\.rawValue).joined(separator: ", ")).",
            discussion: "In another order than queue, --after is no place: raise --limit."),
        completion: .list(OperationOrder.allCases.map(\.rawValue)))
    var sort: String?
    @OptionGroup var page: PageOptions
    @OptionGroup var form: ListFormOptions
    @OptionGroup var options: ClientOptions

    private var selected: [JSONValue.Member?] {
        selection.query + [QueueRoutes.sort.written(sort)]
    }

    func run() async throws {
        if try await form.write(QueueRoutes.list(query: selected), page, options) { return }
        try await askAndShow()
    }

    func ask(_ client: OperatorClient) async throws -> Held<Page<OperationSummary>> {
        let list = try await client.answer(QueueRoutes.list(query: page.query + selected))
        return Held(answer: list, held: try await Queue.held(list.items.map(\.state), client))
    }

    func lines(_ found: Held<Page<OperationSummary>>) -> [String] {
        TerminalText.operations(found.answer, held: found.held)
    }
}

struct QueueGroups: AskingCommand {
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
    static let hintsAtUsers = true

    @OptionGroup var selection: QueueSelection
    @OptionGroup var options: ClientOptions

    func ask(_ client: OperatorClient) async throws -> Groups {
        let limit = Fields.limit(Proxy.Limits.pageElementsMax)
        var groups = Groups(
            try await client.answer(QueueRoutes.groups(query: selection.query + [limit])))
        groups.add(try await countsByState(client))
        groups.held = try await Queue.held(groups.items.map(\.state), client)
        return groups
    }

    func lines(_ groups: Groups) -> [String] { TerminalText.groups(groups) }

    /// How many operations match in each state; nothing where a reason selects them.
    private func countsByState(
        _ client: OperatorClient
    ) async throws -> [(state: OperationState, count: Int)] {
        if selection.reason != nil { return [] }
        var counts: [(OperationState, Int)] = []
        for state in selection.states {
            var one = selection
            one.state = state
            let page = try await client.answer(
                QueueRoutes.list(query: one.query + [Fields.limit(1)]))
            // The server refuses a word that is no state.
            if let state = OperationState(rawValue: state) { counts.append((state, page.total)) }
        }
        return counts
    }

    /// The groups of the server, and for each state those of its operations that have no reason.
    struct Groups: Encodable, Sendable {
        /// Operations with one state and one reason, or without a reason.
        struct Group: Encodable, Sendable {
            let state: OperationState
            var status: Int?
            var reason: String?
            let count: Int
            var since: Instant?
            var firstTriedAt: Instant?
            var lastTriedAt: Instant?
        }

        private(set) var items: [Group]
        private(set) var next: String?
        private(set) var total: Int
        /// What keeps queued operations from being sent.
        var held: String?

        init(_ page: Page<OperationGroup>) {
            items = page.items.map { group in
                Group(
                    state: group.state, status: group.status, reason: group.reason,
                    count: group.count, since: group.since, firstTriedAt: group.firstTriedAt,
                    lastTriedAt: group.lastTriedAt)
            }
            (next, total) = (page.next, page.total)
        }

        /// Adds the operations that have no reason.
        /// - Parameter counts: how many operations there are in each state.
        mutating func add(_ counts: [(state: OperationState, count: Int)]) {
            // A list that was cut does not say how many have a reason.
            guard total < Proxy.Limits.pageElementsMax else { return }
            for (state, count) in counts {
                let withReason = items.filter { $0.state == state }.reduce(0) { $0 + $1.count }
                if count > withReason {
                    items.append(Group(state: state, count: count - withReason))
                }
            }
            (next, total) = (nil, items.count)
        }
    }
}

struct QueueShow: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One operation with all its attempts.",
        discussion: "JSON: {summary, payload, base, mine, server, headers, attempts}.")

    @Argument(help: "Its id.", completion: .operations)
    var id: String
    @OptionGroup var options: ClientOptions

    func ask(_ client: OperatorClient) async throws -> Held<OperationDetail> {
        let detail = try await client.answer(QueueRoutes.show(id))
        return Held(
            answer: detail, held: try await Queue.held([detail.summary.state], client))
    }

    func lines(_ found: Held<OperationDetail>) -> [String] {
        TerminalText.detail(found.answer, held: found.held)
    }
}

struct QueueEdit: AskingCommand {
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
        _ members: [JSONValue.Member], of payload: Columns?
    ) throws(StartProblem) {
        for member in members where ofBackend.contains(member.name) {
            if member.name != "id", payload?[member.name] != nil { continue }
            throw StartProblem(
                "\(member.name) cannot be edited: the backend gives it. Name a column of the row.")
        }
    }

    private var members: [JSONValue.Member] {
        get throws { try columns.map { try JSONValue.Member(assignment: $0) } }
    }

    func prepare() throws { _ = try members }

    func ask(_ client: OperatorClient) async throws -> Answers.ActionResult {
        let members = try members
        let operation = try await client.answer(QueueRoutes.show(id))
        try Self.check(members, of: operation.payload)
        return try await client.answer(
            QueueRoutes.edit(
                id,
                body: [
                    QueueRoutes.revision(operation.summary.revision),
                    QueueRoutes.columns(.object(members)),
                ]))
    }

    func lines(_ result: Answers.ActionResult) -> [String] { TerminalText.action(result) }
}

/// `understudy queue retry ID`, or `--all`.
struct QueueRetry: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send an operation, or all that match, again now.",
        discussion: "JSON: {operation}; with --all {matched, changed, refused, dryRun}.")

    @OptionGroup var target: QueueTarget
    @OptionGroup var options: ClientOptions

    func ask(_ client: OperatorClient) async throws -> OneOrAll {
        if let id = target.id { return .one(try await Queue.act(QueueRoutes.retry, id, client)) }
        return .all(
            try await client.answer(
                QueueRoutes.retryAll(body: target.selection.body(dryRun: target.dryRun))))
    }

    func lines(_ result: OneOrAll) -> [String] { result.lines("to be sent again") }
}

/// `understudy queue discard ID`, or `--all`.
struct QueueDiscard: AskingCommand {
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

    func ask(_ client: OperatorClient) async throws -> OneOrAll {
        if let id = target.id {
            try confirmation.confirm("The change of operation \(id) is given up")
            return .one(try await Queue.act(QueueRoutes.discard, id, client))
        }
        return .all(
            try await client.bulk(
                QueueRoutes.discardAll, dryRun: target.dryRun, target.selection.body
            ) { count in
                let changes = count == 1 ? "1 change is" : "\(count) changes are"
                try confirmation.confirm("\(changes) given up")
            })
    }

    func lines(_ result: OneOrAll) -> [String] { result.lines("given up") }
}

/// `understudy queue assign --identity USER`.
struct QueueAssign: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "assign",
        abstract: "Give what was written without a sign-in to a user.",
        discussion: """
            For changes that the backend refuses without a sign-in. The user of --identity must be the \
            only one here since they were written. They are sent with that user's token. --undo takes \
            back what was not sent yet. JSON: {matched, changed, refused, dryRun}; those refused stay, \
            since the user's store would not take them.
            """)
    static let needsServer = true

    @Flag(help: "Only say how many there are.")
    var dryRun = false
    @Flag(help: "Take back what was given last, as far as it was not sent.")
    var undo = false
    @OptionGroup var options: ClientOptions

    func prepare() throws {
        if options.identity == nil { throw StartProblem("Say to whom: --identity USER.", .usage) }
    }

    func ask(_ client: OperatorClient) async throws -> BulkResult {
        try await client.forAll.answer(
            QueueRoutes.assign(
                body: [
                    QueueRoutes.user(options.identity), Fields.dryRun(dryRun),
                    QueueRoutes.isUndone(undo),
                ]))
    }

    func lines(_ result: BulkResult) -> [String] {
        TerminalText.bulk(
            result, undo ? "taken back" : "given to \(options.identity ?? "")",
            left: "the other store has the item already, or does not know it")
    }
}

extension OperatorClient {
    /// Does an action to all that match, after a count that a person confirms.
    /// - Parameters:
    ///   - body: of the request for a dry run or the action.
    ///   - confirm: asks about so many; throws for a no.
    func bulk(
        _ route: Route<BulkResult>, dryRun: Bool,
        _ body: (_ dryRun: Bool) -> [JSONValue.Member?],
        confirm: (_ count: Int) throws -> Void
    ) async throws -> BulkResult {
        let planned = try await answer(route(body: body(true)))
        if dryRun { return planned }
        // Operations that come after the plan were not confirmed.
        if planned.matched == 0 { return .init(matched: 0, changed: 0, refused: 0, dryRun: false) }
        try confirm(planned.matched)
        return try await answer(route(body: body(false)))
    }
}

/// The answer to an action on one operation, or on all that match.
enum OneOrAll: Encodable, Sendable {
    case one(Answers.ActionResult)
    case all(BulkResult)

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .one(let result): try container.encode(result)
        case .all(let result): try container.encode(result)
        }
    }

    /// The lines of the answer.
    /// - Parameter done: what was done to those that matched.
    func lines(_ done: String) -> [String] {
        switch self {
        case .one(let result): TerminalText.action(result)
        case .all(let result): TerminalText.bulk(result, done)
        }
    }
}
