import ArgumentParser
import HTTPMessage
import Proxy
import SyncCore
import TablesProtocol

struct TablesRows: WholeListCommand {
    static let configuration = CommandConfiguration(
        commandName: "rows", abstract: "List rows of a table with their sync state.",
        discussion: "JSON: {items: [{item, ownColumns, state, …}], next, total}.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(help: "Only rows that fit, such as \"complete eq true\" (OData).")
    var filter: String?

    @Option(help: "Only rows that contain this text.")
    var text: String?

    @Option(help: "Their order, such as \"price desc\" (OData).")
    var orderby: String?

    @Flag(help: "Deleted rows too, as long as they are kept.")
    var deleted = false

    @OptionGroup var page: PageOptions
    @OptionGroup var whole: WholeListOptions
    @OptionGroup var options: ClientOptions

    var path: String { "/tables/\(PercentCoding.encode(table))/items" }
    var selected: [(String, String?)] {
        [
            ("filter", filter), ("q", text), ("orderby", orderby),
            ("includeDeleted", deleted ? "true" : nil),
        ]
    }

    func ask(_ client: OperatorClient) async throws -> Answers.Page<Answers.TableItem> {
        try await client.get(path, selected + page.query(limit: "top", after: "skip"))
    }

    func lines(_ page: Answers.Page<Answers.TableItem>) -> [String] {
        TerminalText.list(page, nothing: "No rows.") { row in
            ["\(row.state.rawValue.padded(to: 12))\(row.item.json.text)"]
        }
    }
}
