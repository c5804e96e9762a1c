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
        let bytes: [UInt8]?
        do {
            bytes = try Files.read(file)
        } catch {
            throw StartProblem("\(error)", .error)
        }
        guard let bytes else { throw StartProblem("There is no file \(file).", .error) }
        var operations: [JSONValue] = []
        var isWhole = false
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let value = try? JSONValue(parsing: Array(line)) else {
                throw StartProblem("\(file):\(index + 1) is no JSON; nothing was imported.", .error)
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
