import ArgumentParser
import Platform
import Proxy
import SyncCore
import TablesProtocol

struct QueueSelection: ParsableArguments {
    @OptionGroup var changes: ChangeSelection

    @Option(
        help: ArgumentHelp(
            "States with commas, or all; the open ones unless given.",
            discussion: "As the dashboard names them (refused) or the API (quarantined)."),
        completion: .list(StateNames.all.filter { !$0.contains(" ") }))
    var state: String?

    @Option(help: "Only those with this reason, or with this one of 'queue groups'.")
    var reason: String?

    @Option(help: "Only those whose last answer had this status, such as 422; none: no answer.")
    var status: String?

    func validate() throws {
        try ChangeSelection.refuseEmpty([
            OperationSelection.state(state), OperationSelection.reason(reason),
            OperationSelection.status(status),
        ])
        do throws(StateNames.Unknown) {
            _ = try state.map { text throws(StateNames.Unknown) in try StateNames(text) }
        } catch {
            throw ValidationError(error.sentence)
        }
    }

    /// The states as the API names them; nil if none was given.
    private var codes: [String]? { state.flatMap { try? StateNames($0).codes } }

    /// The options as parameters of a list.
    var query: [JSONValue.Member?] {
        [OperationSelection.state(codes?.joined(separator: ","))] + others
    }

    private var others: [JSONValue.Member?] {
        [OperationSelection.reason(reason), OperationSelection.status(status)] + changes.query
    }

    var states: [String] {
        switch codes {
        case nil: OperationState.allCases.filter(\.isOpen).map(\.rawValue)
        case ["all"]?: OperationState.allCases.map(\.rawValue)
        case let codes?: codes
        }
    }

    var isEmpty: Bool { query.allSatisfy { $0 == nil } }

    /// The options as the body of an action on all that match.
    func body(dryRun: Bool) -> [JSONValue.Member?] {
        // An action is for open operations alone, which are meant without a state.
        let states = codes == ["all"] ? nil : codes
        let named = states.map { names in
            JSONValue.Member("state", .array(names.map { .string($0) }))
        }
        return Self.body([named] + others, dryRun: dryRun)
    }

    /// The body of an action on all that match a filter. Without a filter it says that all are meant: only
    /// commands that name all in words may have none.
    static func body(_ filter: [JSONValue.Member?], dryRun: Bool) -> [JSONValue.Member?] {
        let filter = filter.compactMap(\.self)
        return [
            OperationSelection.selection(.object(filter)),
            OperationSelection.all(filter.isEmpty ? true : nil),
            Fields.dryRun(dryRun),
        ]
    }
}

/// Which changes are meant, in the queue and among the conflicts.
struct ChangeSelection: ParsableArguments {
    @Option(help: "Only of this table.", completion: .tables)
    var table: String?

    @Option(help: "Only those that contain this text.")
    var text: String?

    @Option(help: "Only those that write this column.")
    var column: String?

    @Option(help: "Only those of 'client', 'person', or the client with an address of this name.")
    var actor: String?

    @Option(help: "Only those made before this time, such as 2026-03-14T09:26:53Z.")
    var before: String?

    func validate() throws {
        try Self.refuseEmpty(query)
    }

    /// An empty text would select nothing, or all.
    /// - Parameter given: fields, named as the options are, but for `q`.
    static func refuseEmpty(_ given: [JSONValue.Member?]) throws {
        for name in given.compactMap({ $0?.value == .string("") ? $0?.name : nil }) {
            throw ValidationError(
                "--\(name == "q" ? "text" : name) must be given with a text that is not empty, or left out."
            )
        }
    }

    /// The options as parameters of a list, or as members of a filter.
    var query: [JSONValue.Member?] {
        [
            OperationSelection.table(table), OperationSelection.text(text),
            OperationSelection.column(column),
            OperationSelection.actor(actor), OperationSelection.before.written(before),
        ]
    }
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

extension OperationState {
    /// The state in a person's words: those of the dashboard (`Public/shared/words.js`).
    var word: String {
        switch self {
        case .queued: "queued"
        case .sending: "sending"
        case .waiting: "waiting"
        case .unknown: "no clear answer, checking"
        case .conflict: "conflict"
        case .quarantined: "refused"
        case .done: "sent"
        case .discarded: "discarded"
        case .collapsed: "merged into another"
        }
    }
}

/// The states that a person names with commas: each by its word, or as the API has it.
struct StateNames {
    /// The names as the API has them.
    private(set) var codes: [String] = []

    /// Every name that is understood, the words first.
    static let all: [String] = {
        let words = OperationState.allCases.map(\.word) + ["all"]
        return words + OperationState.allCases.map(\.rawValue).filter { !words.contains($0) }
    }()

    /// Reads states; throws the sentence about the first that is none.
    init(_ text: String) throws(Unknown) {
        var rest = text.lowercased()[...]
        while true {
            // A word may have a comma itself.
            let name =
                Self.all.filter { Self.begins(rest, with: $0) }.max { $0.count < $1.count }
                ?? String(rest.prefix { $0 != "," })
            let state = OperationState.allCases.first { [$0.word, $0.rawValue].contains(name) }
            guard let code = name == "all" ? name : state?.rawValue else {
                throw Unknown(name: name.trimmed)
            }
            codes.append(code)
            rest = rest.dropFirst(name.count).trimmed[...]
            guard rest.first == "," else { return }
            rest = rest.dropFirst().trimmed[...]
        }
    }

    /// A name that is no state's.
    struct Unknown: Error {
        let name: String

        /// What a person should write instead.
        var sentence: String {
            let hint =
                NearestName.of(name, in: StateNames.all).map { "did you mean \"\($0)\"?" }
                ?? "known are \(StateNames.all.joined(separator: "; "))."
            return "--state must be states with commas: there is no state \"\(name)\"; \(hint)"
        }
    }

    /// Whether a text begins with a whole name: its end, or a comma, follows.
    private static func begins(_ text: Substring, with name: String) -> Bool {
        guard text.hasPrefix(name) else { return false }
        let rest = text.dropFirst(name.count).trimmed
        return rest.isEmpty || rest.hasPrefix(",")
    }
}

extension StringProtocol {
    /// The text without blanks around it.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
