import ArgumentParser
import Proxy
import TablesProtocol

/// The options that select operations of the queue.
struct QueueSelection: ParsableArguments {
    @Option(help: "States with commas, or all; the open ones unless given.")
    var state: String?

    @Option(help: "Only of this table.")
    var table: String?

    @Option(help: "Only those that contain this text.")
    var text: String?

    @Option(help: "Only those with this reason, or with this one of 'queue groups'.")
    var reason: String?

    /// The options as query pairs of a list.
    var query: [(String, String?)] {
        [("state", state), ("table", table), ("q", text), ("reason", reason)]
    }

    /// Whether no option was given.
    var isEmpty: Bool { query.allSatisfy { $0.1 == nil } }

    /// The options as the body of an action on all that match.
    func request(dryRun: Bool) -> JSONValue {
        var filter: [JSONValue.Member] = []
        if let state {
            let words = state.split(separator: ",").map { JSONValue.string(String($0)) }
            filter.append(.init("state", .array(words)))
        }
        if let table { filter.append(.init("table", .string(table))) }
        if let text { filter.append(.init("q", .string(text))) }
        if let reason { filter.append(.init("reason", .string(reason))) }
        return .members(("filter", .object(filter)), ("dryRun", .bool(dryRun)))
    }
}

/// One operation, or all that match.
struct QueueTarget: ParsableArguments {
    @Argument(help: "The operation's id.")
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
