import ArgumentParser
import HTTPMessage
import Program
import Proxy
import SyncCore
import TablesProtocol

struct Tables: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The tables here, and how each is read and written.",
        subcommands: [
            TablesList.self, TablesRows.self, TablesSet.self, TablesPause.self,
            TablesResume.self, TablesSetAside.self, TablesRemove.self, TablesForget.self,
        ],
        defaultSubcommand: TablesList.self)
}

struct TablesList: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tables with their counts and policies.",
        discussion: "JSON: {items: [table], next, total}.")
    static let nothing = "No tables yet: a write or a pull makes the first."

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Page<Answers.TableStatus>> { TableRoutes.list() }

    func lines(of table: Answers.TableStatus) -> [String] { TerminalText.table(table) }
}

struct TablesRows: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "rows", abstract: "List rows of a table with their sync state.",
        discussion: "JSON: {items: [{item, ownColumns, state, …}], next, total}.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(help: "Only rows that fit, such as \"complete eq true\" (OData).")
    var filter: String?

    @Option(help: "Only rows that contain this text.")
    var text: String?

    @Option(help: "Their order, such as \"price desc\" (OData).")
    var orderby: String?

    @Flag(help: "Deleted rows too, as long as they are kept.")
    var deleted = false

    @OptionGroup var page: PageOptions
    @OptionGroup var form: ListFormOptions
    @OptionGroup var options: ClientOptions

    private var selected: [JSONValue.Member?] {
        [
            RowRoutes.filter(filter), RowRoutes.text(text), RowRoutes.orderby(orderby),
            RowRoutes.includeDeleted(deleted ? true : nil),
        ]
    }
    var request: RouteRequest<Page<Answers.TableItem>> {
        RowRoutes.list(
            table,
            query: selected + page.query(limit: RowRoutes.top, after: RowRoutes.skip))
    }

    func run() async throws {
        if try await form.write(RowRoutes.list(table, query: selected), page, options) { return }
        try await askAndShow()
    }

    func lines(_ page: Page<Answers.TableItem>) -> [String] {
        TerminalText.list(page, nothing: "No rows.") { row in
            ["\(row.state.rawValue.padded(to: 12))\(row.item.text)"]
        }
    }
}

struct TablesSet: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change how a table is read and written.",
        discussion: "What is not named stays. JSON: the table.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(
        help: ArgumentHelp("How it is read: \(Self.words(ReadPolicy.self)).", valueName: "policy"),
        completion: .words(of: ReadPolicy.self))
    var read: String?

    @Option(
        help: ArgumentHelp(
            "When writes are answered: \(Self.words(WritePolicy.self)).", valueName: "policy"),
        completion: .words(of: WritePolicy.self))
    var write: String?

    @Option(
        help: ArgumentHelp(
            "Who decides conflicts: \(Self.words(ConflictPolicy.self)).", valueName: "policy"),
        completion: .words(of: ConflictPolicy.self))
    var conflict: String?

    @Option(
        help: ArgumentHelp(
            """
            Conflicts of writes without If-Match: client, and the local change wins, or ask, and \
            they are decided like others.
            """,
            valueName: "policy"))
    var unconditional: String?

    @Flag(inversion: .prefixedNo, help: "Whether all users share it.")
    var `public`: Bool?

    @Option(
        help: ArgumentHelp(
            """
            An index for lists in the order of columns, such as 'price desc'; once for each that the table \
            is to have, or '' for none.
            """,
            valueName: "columns"))
    var index: [String] = []

    @OptionGroup var options: ClientOptions

    private static func words<Policy: RawRepresentable & CaseIterable>(
        _ type: Policy.Type
    ) -> String where Policy.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    var request: RouteRequest<Answers.TableStatus> {
        TableRoutes.change(
            table,
            body: [
                TablePolicies.readPolicy.written(read), TablePolicies.writePolicy.written(write),
                TablePolicies.conflictPolicy.written(conflict),
                TablePolicies.unconditionalPolicy.written(unconditional),
                TablePolicies.isShared(self.public),
                TablePolicies.orders(index.isEmpty ? nil : index.filter { !$0.isEmpty }),
            ])
    }

    func lines(_ table: Answers.TableStatus) -> [String] { TerminalText.table(table) }
}

struct TablesPause: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Send nothing of a table and fetch nothing, until it is resumed.",
        discussion: """
            Clients read and write as before: their changes wait in the queue, also through a restart. \
            JSON: the table.
            """)

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Flag(help: "Only send nothing.")
    var pushes = false

    @Flag(help: "Only fetch nothing.")
    var pulls = false

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.TableStatus> {
        let pause: TablePause = pushes == pulls ? .all : pushes ? .pushes : .pulls
        return TableRoutes.change(table, body: [TablePolicies.paused(pause)])
    }

    func lines(_ table: Answers.TableStatus) -> [String] { TerminalText.table(table) }
}

struct TablesResume: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Send and fetch the changes of a paused table again.",
        discussion: "JSON: the table.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.TableStatus> {
        TableRoutes.change(table, body: [TablePolicies.paused(.nothing)])
    }

    func lines(_ table: Answers.TableStatus) -> [String] { TerminalText.table(table) }
}

struct TablesSetAside: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-aside",
        abstract: "List the backend's rows that are not here, since they cannot be taken.",
        discussion: """
            Each pull asks for some of them again; one that was mended comes by itself. \
            JSON: {items: [{id, reason, text, since, seenAt}], next, total}.
            """)
    static let nothing = "All rows that came are here."

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Page<SetAsideRow>> {
        TableRoutes.setAside(table, query: page.query)
    }

    /// The id, the reason and the beginning of the text.
    func lines(of row: SetAsideRow) -> [String] {
        let cut = row.text.count > Limits.setAsideCharacters ? "…" : ""
        return [
            "\(row.id ?? "(no id)")  \(row.reason)",
            "  " + row.text.prefix(Limits.setAsideCharacters) + cut,
        ]
    }
}

/// A command that removes rows of a table from this device.
protocol RemovalCommand: RequestCommand where Answer == Answers.PurgeResult {
    var removal: Removal { get }
}

extension RemovalCommand {
    static var needsServer: Bool { true }

    func prepare() throws { try removal.confirm() }

    var request: RouteRequest<Answers.PurgeResult> { removal.request }

    func lines(_ result: Answers.PurgeResult) -> [String] { Removal.lines(result) }
}

/// `understudy tables remove TABLE`: what "Remove from this device" does on the dashboard.
struct TablesRemove: RemovalCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the rows of a table from this device.",
        discussion: Removal.discussion)

    @OptionGroup var removal: Removal
    @OptionGroup var options: ClientOptions
}

/// `understudy purge TABLE`: the same by the name that the SDKs have for it.
struct Purge: RemovalCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove rows of a table from this device, as tables remove does.",
        discussion: Removal.discussion)

    @OptionGroup var removal: Removal
    @OptionGroup var options: ClientOptions
}

/// Which rows are removed from this device, and what of their changes.
struct Removal: ParsableArguments {
    static let discussion = """
        The backend keeps its rows, and the next pull brings them again. The history stays. Changes that \
        are not on the server forbid it without --force, which discards them: 'history --undo' brings them \
        back. JSON: {table, purged, discarded, historyId}; --undo takes the historyId.
        """

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(help: "Only what fits, such as \"$filter=complete eq true\"; all rows unless given.")
    var query: String?

    @Flag(
        help:
            "Discard the changes of these rows that are not on the server; the history can undo it."
    )
    var force = false

    @OptionGroup var confirmation: Confirmation

    func confirm() throws {
        if force {
            try confirmation.confirm("Changes of \(table) that are not on the server are discarded")
        }
    }

    var request: RouteRequest<Answers.PurgeResult> {
        // Without a query the whole table is meant, which the person has named.
        TableRoutes.purge(
            table,
            body: [
                TableRoutes.force(force), TableRoutes.query(query),
                TableRoutes.all(query == nil ? true : nil),
            ])
    }

    static func lines(_ result: Answers.PurgeResult) -> [String] {
        let rows = result.purged == 1 ? "1 row" : "\(result.purged) rows"
        let changes =
            result.discarded == 1 ? "1 unsent change" : "\(result.discarded) unsent changes"
        let undo =
            result.historyId.map { " `understudy history --undo \($0)` brings them back." }
            ?? " `understudy pull \(result.table)` brings the backend's rows again."
        return [
            "\(rows) removed from this device, \(changes) discarded.\(undo)"
        ]
    }
}

struct TablesForget: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove a table with its history and settings; it cannot be undone.",
        discussion: """
            For a table that is not needed any more; 'tables remove' keeps its history. The backend keeps \
            its rows. A client that reads the table has it copied again; so does a sync, for a table that \
            the setting `table` names. Open operations forbid it without --force. JSON: {table, removed, \
            discarded}.
            """)

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Flag(help: "Give up open operations of the table too: they are lost, with their history.")
    var force = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func prepare() throws {
        let lost = force ? ", and changes that were not sent are lost" : ""
        try confirmation.confirm(
            "The copy of \(table) here and its history are removed for good\(lost)")
    }

    var request: RouteRequest<Answers.RemoveResult> {
        TableRoutes.remove(table, body: [TableRoutes.force(force)])
    }

    func lines(_ result: Answers.RemoveResult) -> [String] {
        ["\(result.removed) rows removed, \(result.discarded) operations discarded."]
    }
}
