import ArgumentParser
import HTTPMessage
import Program
import Proxy
import SyncCore
import TablesProtocol

struct Indexes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Indexes that lists of a table need.",
        discussion: """
            An index makes the lists of one kind quick and every write of the table a little slower. \
            Writes wait until it is built.
            """,
        subcommands: [IndexesList.self, IndexesAdd.self, IndexesDrop.self],
        defaultSubcommand: IndexesList.self)
}

struct IndexesList: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The indexes there are.",
        discussion: "JSON: {items: [{table, …index}], next, total}.")

    @OptionGroup var options: ClientOptions

    /// The indexes of all tables, as a page of a list.
    struct Indexes: Encodable, Sendable {
        let items: [Index]
        let next: String?
        let total: Int
    }

    /// An index with the name of its table as a further member.
    struct Index: Encodable, Sendable {
        let table: String
        let index: Answers.TableIndex

        private enum CodingKeys: CodingKey { case table }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(table, forKey: .table)
            try index.encode(to: encoder)
        }
    }

    func ask(_ client: OperatorClient) async throws -> Indexes {
        let tables: Answers.Page<Answers.TableStatus> = try await client.get("/tables")
        let items = tables.items.flatMap { table in
            table.indexes.map { Index(table: table.name, index: $0) }
        }
        return Indexes(items: items, next: nil, total: items.count)
    }

    func lines(_ list: Indexes) -> [String] {
        list.items.isEmpty
            ? ["No table has an index of its own."]
            : list.items.map { TerminalText.index($0.index, of: $0.table) }
    }
}

struct IndexesAdd: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Build the index that a list of a table needs.",
        discussion: "Writes wait meanwhile: some seconds for a million rows. JSON: the table.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Argument(help: "The list's query: '$filter=complete eq false&$orderby=price desc'.")
    var query: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func prepare() throws {
        try confirmation.confirm("Writes to this store wait while an index of \(table) is built")
    }

    func ask(_ client: OperatorClient) async throws -> Answers.TableStatus {
        try await build(client)
        return try await state(client)
    }

    func lines(_ result: Answers.TableStatus) -> [String] {
        let built = result.indexes.filter { $0.builtAt != nil }
        return ["\(table) has \(built.count) of \(Limits.indexesPerTable) indexes."]
    }

    /// Builds it and waits for its end.
    private func build(_ client: OperatorClient) async throws {
        let path = "/tables/\(PercentCoding.encode(table))/indexes"
        let started: Answers.IndexStarted = try await client.post(
            path, [], .members(("query", .string(query))))
        var bar = ProgressBar()
        defer { bar.end() }
        while true {
            let index = try await state(client).indexes.first { $0.id == started.id }
            guard let index else { throw StartProblem("The index was dropped.", .error) }
            if index.builtAt != nil { return }
            guard let percent = index.percent else {
                throw StartProblem(index.problem ?? "The index could not be built.", .error)
            }
            bar.draw(index.columns.joined(separator: ", "), done: percent, total: 100)
            try await Task.sleep(for: .milliseconds(Program.Limits.runPollMilliseconds))
        }
    }

    private func state(_ client: OperatorClient) async throws -> Answers.TableStatus {
        let tables: Answers.Page<Answers.TableStatus> = try await client.get("/tables")
        let found = tables.items.first { $0.name.lowercased() == table.lowercased() }
        guard let found else { throw StartProblem("There is no table \(table) here.", .error) }
        return found
    }
}

struct IndexesDrop: RemoveCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Drop an index.",
        discussion: "JSON: {}.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Argument(help: "The number that list shows.")
    var id: Int64

    @OptionGroup var options: ClientOptions

    var path: String { "/tables/\(PercentCoding.encode(table))/indexes/\(id)" }
    var done: String { "Index \(id) of \(table) is dropped." }
}
