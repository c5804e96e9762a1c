import ArgumentParser
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What happened, newest first; undo entries.",
        subcommands: [HistoryList.self, HistoryShow.self], defaultSubcommand: HistoryList.self)
}

struct HistoryList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what happened, newest first, or undo it.",
        discussion: """
            A line has the number of the entry, its time, who did it, what happened, the item, and the \
            values where one field was changed; --by and --kind take these words. \
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
    @OptionGroup var form: ListFormOptions
    @OptionGroup var options: ClientOptions

    func validate() throws {
        if undo != nil || !undoDecisions.isEmpty, selection.isGiven || form.form != nil {
            throw ValidationError(
                "--undo and --undo-decisions name what they undo: no filter goes with them.")
        }
    }

    func run() async throws {
        if let undo {
            let request = HistoryRoutes.undo(String(undo), body: [HistoryRoutes.dryRun(dryRun)])
            let result = try await options.withOperatorOrStore { try await $0.answer(request) }
            return options.show(result, TerminalText.undone)
        }
        if !undoDecisions.isEmpty {
            let request = HistoryRoutes.undoDecisions(body: [
                HistoryRoutes.operations(undoDecisions), HistoryRoutes.dryRun(dryRun),
            ])
            let result = try await options.withOperatorOrStore { try await $0.answer(request) }
            options.show(result, TerminalText.undone)
            if result.changed == 0, result.refused > 0 {
                let why = result.items.first.map { ": \($0.sentence)" } ?? "."
                throw StartProblem("No decision was undone\(why)", .error)
            }
            return
        }
        let whole = HistoryRoutes.list(query: selection.query)
        if try await form.write(whole, page, options) { return }
        let request = HistoryRoutes.list(query: selection.query + page.query)
        let list = try await options.withOperatorOrStore { try await $0.answer(request) }
        options.show(list) {
            TerminalText.history($0, isFiltered: selection.isGiven)
        }
    }
}

struct HistoryShow: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One entry with every field that it changed.",
        discussion: "JSON: as one entry of the list.")

    @Argument(help: "Its number.")
    var number: Int64
    @OptionGroup var options: ClientOptions

    func ask(_ client: OperatorClient) async throws -> HistoryEntry {
        let page = try await client.answer(
            HistoryRoutes.list(query: [HistoryRoutes.entry(number)]))
        guard let entry = page.items.first else {
            throw StartProblem(
                "There is no entry \(number) in the history: `understudy history` lists them.",
                .error)
        }
        return entry
    }

    func lines(_ entry: HistoryEntry) -> [String] { TerminalText.whole(entry) }
}

/// The options that select entries of the history.
struct HistorySelection: ParsableArguments {
    @Option(help: "When it happened, such as yesterday, \"last Tuesday\", 2026-11-24 or 7d.")
    var when: String?

    @Option(help: "From when, in such words.")
    var from: String?

    @Option(help: "Until when, in such words, with all of the day that they name.")
    var to: String?

    @Option(
        help: ArgumentHelp(
            "Only what happened so, kinds with commas: \(HistoryWords.all.joined(separator: ", ")).",
            valueName: "kinds"),
        completion: .list(HistoryWords.all.filter { !$0.contains(" ") }))
    var kind: String?

    @Option(
        help: ArgumentHelp(
            "Only what these did: person (you), engine (understudy), client, or the name of an access.",
            valueName: "who"))
    var by: String?

    @Option(help: "Only of this table.", completion: .tables)
    var table: String?

    @Option(help: ArgumentHelp("Only of the item with this id, or table/id.", valueName: "id"))
    var item: String?

    @Option(help: "Only those that show this text.")
    var text: String?

    private var given: [JSONValue.Member?] {
        // No id has a slash.
        let parts = item?.split(separator: "/", maxSplits: 1) ?? []
        return [
            HistoryRoutes.when(when), HistoryRoutes.from(from), HistoryRoutes.to(to),
            HistoryRoutes.kind(kind), HistoryRoutes.by(by),
            HistoryRoutes.table(parts.count > 1 ? String(parts[0]) : table),
            HistoryRoutes.item(parts.last.map { String($0) } ?? item), HistoryRoutes.text(text),
        ]
    }

    var isGiven: Bool { given.contains { $0 != nil } }

    func validate() throws { try ChangeSelection.refuseEmpty(given) }

    /// The options as parameters of the operator API.
    var query: [JSONValue.Member?] {
        let hasWords = when != nil || from != nil || to != nil
        return given + [HistoryRoutes.zone(hasWords ? TimeZoneRules.localName : nil)]
    }
}

extension TerminalText {
    /// A page of the history, after the time that the words of a person were taken for.
    static func history(_ page: Answers.HistoryPage, isFiltered: Bool) -> [String] {
        let ends = [page.from.map { "from \($0.text)" }, page.to.map { "to \($0.text)" }]
        let period = ends.compactMap(\.self).joined(separator: " ")
        let nothing = isFiltered ? "Nothing matches." : "Nothing happened yet."
        return (period.isEmpty ? [] : ["What happened \(period):"])
            + list(
                Page(items: page.items, next: page.next, total: page.total),
                nothing: nothing
            ) { [entry($0)] }
    }

    /// An entry in one line, with the values of the field that it changed, if it is one.
    static func entry(_ entry: HistoryEntry) -> String {
        let changes = changes(of: entry, characters: Limits.shownValueCharacters)
        let values = changes.count == 1 ? changes : []
        let sentence = entry.kind == .write && !values.isEmpty ? [] : [entry.summary]
        return ([head(entry)] + sentence + values).joined(separator: "  ")
    }

    /// An entry with all that is known of it.
    static func whole(_ entry: HistoryEntry) -> [String] {
        var lines = [head(entry), "  \(entry.summary)"]
        lines += changes(of: entry).map { "  \($0)" }
        if let id = entry.operationID { lines.append("  operation \(id)") }
        if let undoing = entry.undoneBy {
            lines.append("  undone by entry \(undoing)")
        } else if entry.undoable {
            lines.append("  to undo it: understudy history --undo \(entry.id)")
        }
        return lines
    }

    /// The number, the time, who did it, what happened, and the item.
    private static func head(_ entry: HistoryEntry) -> String {
        let item = [entry.table, entry.itemID].compactMap(\.self).joined(separator: "/")
        let parts = [
            String(entry.id), entry.at.text, entry.client ?? entry.actor.rawValue,
            HistoryWords.word(entry.kind, entry.summary), item,
            entry.title.map { shortened($0, Limits.shownValueCharacters) } ?? "",
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// Each field that is another one after the entry, such as `text: "a" → "b"`.
    private static func changes(
        of entry: HistoryEntry, characters: Int? = nil
    ) -> [String] {
        let rows = [entry.before ?? Columns(), entry.after ?? Columns()]
        let all = rows.map(ColumnValues.init)
        var seen: Set<String> = []
        let changed = rows.flatMap(\.names).filter {
            seen.insert($0).inserted && all[0][$0]?.value != all[1][$0]?.value
        }
        return changed.map { name in
            let values = all.map { $0[name].map { shortened($0.text, characters) } ?? "—" }
            return "\(name): \(values.joined(separator: " → "))"
        }
    }

    private static func shortened(_ text: String, _ characters: Int?) -> String {
        guard let characters, text.count > characters else { return text }
        return text.prefix(characters - 1) + "…"
    }
}
