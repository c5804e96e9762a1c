import ArgumentParser
import Program
import Proxy
import SyncCore
import TablesProtocol

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What happened, newest first; undo entries.",
        discussion: """
            An undo says what it does: what was not sent yet opens or comes back as it was; what was \
            sent is set back by a new change. --dry-run says it first and undoes nothing. \
            JSON: {items: [entry], next, total, from, to}; with --undo {effect, sentence, dryRun, operation}; \
            with --undo-decisions {matched, changed, refused, dryRun, items: [{operation, effect, \
            sentence}]}. The times of --when, --from and --to are those of this machine's time zone. \
            \(PeriodWords.understood)
            """)

    @Option(help: "Undo the entry with this number.")
    var undo: Int64?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Undo the latest decision about each of these operations.", valueName: "operations"))
    var undoDecisions: [String] = []

    @Flag(help: "With --undo or --undo-decisions: only say what it would do.")
    var dryRun = false

    @OptionGroup var selection: HistorySelection
    @OptionGroup var page: PageOptions
    @OptionGroup var whole: WholeListOptions
    @OptionGroup var options: ClientOptions

    func validate() throws {
        if undo != nil || !undoDecisions.isEmpty, selection.isGiven || whole.format != nil {
            throw ValidationError(
                "--undo and --undo-decisions name what they undo: no filter goes with them.")
        }
    }

    func run() async throws {
        if let undo {
            let body = JSONValue.members(("dryRun", .bool(dryRun)))
            let result: Answers.UndoResult = try await options.withOperatorOrStore { client in
                try await client.post("/history/\(undo)/undo", [], body)
            }
            return options.show(result, TerminalText.undone)
        }
        if !undoDecisions.isEmpty {
            let body = JSONValue.members(
                ("operations", .array(undoDecisions.map { .string($0) })), ("dryRun", .bool(dryRun))
            )
            let result: Answers.UndoneDecisions = try await options.withOperatorOrStore { client in
                try await client.post("/history/undo", [], body)
            }
            options.show(result, TerminalText.undone)
            if result.changed == 0, result.refused > 0 {
                let why = result.items.first.map { ": \($0.sentence)" } ?? "."
                throw StartProblem("No decision was undone\(why)", .error)
            }
            return
        }
        if whole.format != nil {
            return try await whole.write("/history", selection.query, page, options)
        }
        let list: Answers.HistoryPage = try await options.withOperatorOrStore {
            try await $0.get("/history", selection.query + page.query)
        }
        options.show(list) {
            TerminalText.history($0, isFiltered: selection.isGiven)
        }
    }
}

/// The options that select entries of the history.
struct HistorySelection: ParsableArguments {
    @Option(help: "When it happened, such as yesterday, \"last Tuesday\" or \"20 Nov to 24 Nov\".")
    var when: String?

    @Option(help: "From when, in such words.")
    var from: String?

    @Option(help: "Until when, in such words, with all of the day that they name.")
    var to: String?

    @Option(
        help: ArgumentHelp(
            "Only what happened so, kinds with commas: \(HistoryWords.kinds.joined(separator: ", ")).",
            valueName: "kinds"),
        completion: .list(HistoryWords.kinds.filter { !$0.contains(" ") }))
    var kind: String?

    @Option(
        help: ArgumentHelp(
            "Only what these did: you, understudy, client, or client:NAME of one access.",
            valueName: "who"))
    var by: String?

    @Option(help: "Only of this table.", completion: .tables)
    var table: String?

    @Option(help: "Only those that show this text.")
    var text: String?

    private var given: [(String, String?)] {
        [
            ("when", when), ("from", from), ("to", to), ("kind", kind), ("by", by),
            ("table", table), ("q", text),
        ]
    }

    var isGiven: Bool { given.contains { $0.1 != nil } }

    func validate() throws { try ChangeSelection.refuseEmpty(given) }

    /// The options as query pairs of the operator API.
    var query: [(String, String?)] {
        let hasWords = when != nil || from != nil || to != nil
        return given + [("zone", hasWords ? TimeZoneRules.localName : nil)]
    }
}
