import ArgumentParser
import Proxy
import SyncCore
import TablesProtocol

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
