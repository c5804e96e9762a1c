import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy status`.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "How things stand: backend, queue, ledger, tables.",
        discussion: """
            Ends with 6 when no Understudy runs (the store's state is shown all the same), 3 when \
            the backend cannot be reached, 4 with conflicts open, 5 with quarantined operations. \
            JSON: as GET /-/api/v1/status in /-/openapi.json; with \
            --verbose also storage, as GET /-/api/v1/storage.
            """)

    @Flag(help: "Show as well what the store takes on disk, and how long what is in it is kept.")
    var verbose = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let (status, storage, isRunning) = try await options.withOperatorOrStore {
            [verbose] client in
            let status = try await client.get("/status")
            guard verbose else { return (status, JSONValue?.none, client.isRunning) }
            return (status, try await client.get("/storage"), client.isRunning)
        }
        options.show(Self.adding(storage, to: status)) { _ in
            TerminalText.status(status) + (storage.map(TerminalText.storage) ?? [])
        }
        if !isRunning {
            options.tell("No Understudy runs; this is what the store holds.")
            throw ExitStatus.notRunning
        }
        if status["backend"]?["state"]?.string != "online" { throw ExitStatus.offline }
        try Status.throwOpen(
            conflicts: status["queue"]?["conflict"]?.integer,
            quarantined: status["queue"]?["quarantined"]?.integer)
    }

    /// The status with the storage as one more member.
    private static func adding(_ storage: JSONValue?, to status: JSONValue) -> JSONValue {
        guard let storage, case .object(let members) = status else { return status }
        return .object(members + [.init("storage", storage)])
    }

    /// Throws the exit code for open conflicts or quarantined operations.
    static func throwOpen(conflicts: Int64?, quarantined: Int64?) throws {
        if conflicts ?? 0 > 0 { throw ExitStatus.conflicts }
        if quarantined ?? 0 > 0 { throw ExitStatus.quarantined }
    }
}

/// `understudy rejections`.
struct Rejections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Requests that were refused before they were routed, since the start, and why.",
        discussion: """
            A client that gets nothing but errors is often in this list, with the option that \
            allows it. JSON: {items: [rejection], next, total}.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperator { try await $0.get("/rejections") }
        options.show(list, TerminalText.rejections)
    }
}

/// `understudy history`.
struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What happened, newest first; undo entries.",
        discussion: """
            JSON: {items: [entry], next, total}; with --undo {operation}; with --undo-decisions \
            {matched, changed, refused, dryRun}.
            """)

    @Option(help: "Undo the entry with this number.")
    var undo: Int64?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Undo the latest decision about each of these operations.", valueName: "operations"))
    var undoDecisions: [String] = []

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        if let undo {
            let result = try await options.withOperatorOrStore { client in
                try await client.post("/history/\(undo)/undo")
            }
            return options.show(result, TerminalText.action)
        }
        if !undoDecisions.isEmpty {
            let ids = JSONValue.array(undoDecisions.map { .string($0) })
            let result = try await options.withOperatorOrStore { client in
                try await client.post("/history/undo", [], .members(("operations", ids)))
            }
            return options.show(result) { TerminalText.bulk($0, "undone") }
        }
        let list = try await options.withOperatorOrStore {
            try await $0.get("/history", page.query)
        }
        options.show(list, TerminalText.history)
    }
}
