import ArgumentParser
import HTTPMessage
import Proxy
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
        let members = try columns.map { try JSONValue.Member(assignment: $0) }
        let result = try await options.withOperatorOrStore { client in
            let path = "/operations/\(PercentCoding.encode(id))"
            let revision = try await client.get(path)["summary"]?["revision"] ?? .null
            return try await client.patch(
                path, .members(("revision", revision), ("columns", .object(members))))
        }
        options.show(result, TerminalText.action)
    }
}
