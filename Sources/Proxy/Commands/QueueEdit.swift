import ArgumentParser
import TablesProtocol

/// `understudy queue edit ID COLUMN=VALUE…`.
struct QueueEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change what an operation sends, and the item with it.",
        discussion: """
            A value is JSON, or text where it is no JSON: complete=true is a boolean, text=Milk a \
            text, text='"true"' a text too, note=null takes the value away. Columns that are not \
            named stay. JSON: {operation}.
            """)

    @Argument(help: "Its id.")
    var id: String
    @Argument(help: "The columns with their new values.")
    var columns: [String]
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let members = try columns.map(Self.member)
        let result = try await options.withOperatorOrStore { client in
            let path = "/operations/\(PercentCoding.encode(id))"
            let revision = try await client.get(path)["summary"]?["revision"] ?? .null
            return try await client.patch(
                path, .members(("revision", revision), ("columns", .object(members))))
        }
        options.show(result, Words.action)
    }

    private static func member(_ text: String) throws(StartProblem) -> JSONValue.Member {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw StartProblem("\"\(text)\" is no column with a value, such as complete=true.")
        }
        let value = try? JSONValue(parsing: String(parts[1]))
        return JSONValue.Member(String(parts[0]), value ?? .string(String(parts[1])))
    }
}
