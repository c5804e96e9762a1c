import ArgumentParser
import Program
import Proxy
import Synchronization

/// A command that shows a page of a list, or writes all of it.
protocol WholeListCommand: AskingCommand {
    var path: String { get }

    var selected: [(String, String?)] { get }

    var page: PageOptions { get }
    var whole: WholeListOptions { get }
}

extension WholeListCommand {
    func run() async throws {
        guard whole.format != nil else { return try await askAndShow() }
        try await whole.write(path, selected, page, options)
    }
}

struct WholeListOptions: ParsableArguments {
    @Flag(help: "Write all that match as comma-separated values, as spreadsheets read them.")
    var csv = false

    @Flag(help: "Write all that match as JSON, one object in each line.")
    var jsonl = false

    func validate() throws {
        if csv, jsonl { throw ValidationError("Say one of --csv and --jsonl.") }
    }

    /// The format as the API has it; nil for a page.
    var format: String? { csv ? "csv" : jsonl ? "jsonl" : nil }

    /// Writes all of a list to standard output while it arrives.
    func write(
        _ path: String, _ filter: [(String, String?)], _ page: PageOptions,
        _ options: ClientOptions
    ) async throws {
        guard !page.isGiven, !options.json else {
            throw StartProblem(
                "--csv and --jsonl write all that match: leave --limit, --after and --json out.")
        }
        let output = ListOutput(isJSON: jsonl)
        try await options.withOperatorOrStore { client in
            try await client.read(path, filter + [("format", format)]) { output.write($0) }
        }
    }
}

/// Writes the lines of a list to standard output.
private final class ListOutput: Sendable {
    private let isJSON: Bool
    /// The beginning of a line whose end has not arrived.
    private let begun = Mutex<[UInt8]>([])

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Writes the lines that end in a piece.
    func write(_ piece: [UInt8]) {
        let lines = begun.withLock { begun -> [UInt8]? in
            guard let end = piece.lastIndex(of: UInt8(ascii: "\n")) else {
                begun += piece
                return nil
            }
            defer { begun = Array(piece[(end + 1)...]) }
            return begun + piece[...end]
        }
        guard let lines else { return }
        if isJSON {
            ThisProcess.print(jsonLines: lines)
        } else {
            ThisProcess.print(csvLines: lines)
        }
    }
}

struct PageOptions: ParsableArguments {
    @Option(
        help: "How many to show, at most \(Proxy.Limits.pageElementsMax). (default: \(Self.shown))")
    var limit: Int?

    @Option(help: "Where the list before ended.")
    var after: String?

    func validate() throws {
        guard (1...Proxy.Limits.pageElementsMax).contains(limit ?? Self.shown) else {
            throw ValidationError(
                "--limit must be a whole number from 1 to \(Proxy.Limits.pageElementsMax).")
        }
    }

    private static let shown = 50

    /// The options as query pairs of the operator API.
    var query: [(String, String?)] { query(limit: "limit", after: "after") }

    /// The same where the API has other names for them.
    func query(limit name: String, after next: String) -> [(String, String?)] {
        [(name, String(limit ?? Self.shown)), (next, after)]
    }

    var isGiven: Bool { limit != nil || after != nil }
}
