import Proxy
import TablesProtocol

/// What a file that `understudy export` wrote has for another store, as `POST /import` takes it.
struct ExportFile: Sendable {
    /// The rows as inserts, where they are wanted, then the open operations in their order.
    private(set) var changes: [JSONValue] = []
    /// The history, the latest first.
    private(set) var history: [JSONValue] = []

    /// Reads the file to its end; one that breaks off is refused.
    /// - Throws: ``StartProblem`` with the sentence that says why.
    init(reading file: String, rows: Bool) throws(StartProblem) {
        var operations: [JSONValue] = []
        var isWhole = false
        try Self.eachLine(of: file) { line throws(StartProblem) in
            guard let value = try? JSONValue(parsing: line.bytes) else {
                throw StartProblem(
                    "\(file):\(line.number) is no JSON; nothing was imported.", .error)
            }
            switch value["type"]?.string {
            case "item" where rows: changes.append(Self.insert(value))
            case "operation": operations.append(Self.change(value))
            case "history": history.append(value)
            case "end": isWhole = true
            default: break
            }
        }
        guard isWhole else {
            throw StartProblem(
                "\(file) is no whole export: its last line is missing. Nothing was imported.",
                .error)
        }
        changes += operations
    }

    /// Reads a file line by line, as far as the bounds.
    private static func eachLine(
        of path: String, _ body: (BoundedLines.Line) throws(StartProblem) -> Void
    ) throws(StartProblem) {
        var lines = BoundedLines(
            lineBytes: Limits.importedLineBytes, totalBytes: Limits.importedFileBytes)
        do {
            guard let file = try InputFile(path, streams: true) else {
                throw StartProblem("There is no file \(path).", .error)
            }
            while let piece = try file.next() {
                for line in try lines.take(piece) { try body(line) }
            }
            if let line = lines.end() { try body(line) }
        } catch let excess as BoundedLines.Excess {
            throw StartProblem(sentence(excess, path), .error)
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    /// What is too large, and what to do.
    private static func sentence(_ excess: BoundedLines.Excess, _ path: String) -> String {
        switch excess {
        case .line(let number):
            "\(path):\(number) has more than \(Limits.importedLineBytes >> 20) MiB in one line, so it "
                + "is no export of Understudy. Nothing was imported."
        case .total:
            "\(path) has more than \(Limits.importedFileBytes >> 20) MiB, which is more than an import "
                + "takes. Move so much with backup and restore. Nothing was imported."
        }
    }

    private static func insert(_ line: JSONValue) -> JSONValue {
        .members(
            ("table", line["table"] ?? .null), ("itemId", line["item"]?["id"] ?? .null),
            ("kind", .string("insert")), ("columns", line["item"] ?? .null))
    }

    private static func change(_ line: JSONValue) -> JSONValue {
        let summary = line["summary"]
        let mine = line["mine"].flatMap { $0 == .null ? nil : $0 }
        let isInsert = summary?["kind"]?.string == "insert"
        return .members(
            ("table", summary?["table"] ?? .null), ("itemId", summary?["itemId"] ?? .null),
            ("kind", summary?["kind"] ?? .null),
            ("columns", (isInsert ? mine : nil) ?? line["payload"] ?? .null))
    }
}
