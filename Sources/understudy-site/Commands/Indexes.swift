import ArgumentParser
import Backend
import Program
import Proxy
import Site
import TablesProtocol

/// `understudy-site indexes`.
struct Indexes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Indexes that lists of a table need, in PostgreSQL.",
        discussion: """
            An index makes the lists of one kind quick and every write of the table a little slower. Nodes \
            serve while one is built, and use it from its end on.
            """,
        subcommands: [IndexesList.self, IndexesAdd.self, IndexesDrop.self],
        defaultSubcommand: IndexesList.self)
}

/// Where the indexes are.
struct IndexPlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The backend's PostgreSQL, as `understudy-site` is given it.", valueName: "url"))
    var database: String?

    @Option(
        help: """
            The backend's configuration file. (default: understudy/backend.conf in ~/.config, where \
            it is)
            """, completion: .file())
    var config: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// Does something with the rows, and prints what it gives.
    func run(_ body: (PostgreSQLRowStorage) throws -> (lines: [String], json: JSONValue)) throws {
        do {
            let sources = Sources(
                flags: [Settings.database.name: database.map { [$0] } ?? []],
                environment: ThisProcess.environment,
                file: try ConfigurationFile.load(
                    flag: config, environment: ThisProcess.environment, for: SiteFile.kind))
            guard let url = try sources.value(Settings.database) else {
                throw StartProblem(
                    "Indexes are those of PostgreSQL: name it with --database or UNDERSTUDY_DATABASE.")
            }
            let said = try body(try PostgreSQLRowStorage(at: url))
            if json {
                ThisProcess.print(json: said.json.text)
            } else {
                for line in said.lines { ThisProcess.print(line) }
            }
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    /// The table of a name.
    static func table(_ text: String) throws -> TableName {
        guard let name = TableName(text) else {
            throw StartProblem(
                "\(text) is no name of a table: letters, digits, _ and -, with a letter or _ first.")
        }
        return name
    }
}

extension TableIndex {
    fileprivate func line(of table: TableName) -> String {
        "\(number)  \(table)  (\(shape.words.joined(separator: ", ")))"
    }

    fileprivate func json(of table: TableName) -> JSONValue {
        .object([
            .init("table", .string(table.text)), .init("id", .number(JSONNumber(number))),
            .init("columns", .array(shape.words.map { .string($0) })),
        ])
    }
}

/// `understudy-site indexes list`.
struct IndexesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The indexes there are.",
        discussion: "JSON: {items: [{table, id, columns}]}.")

    @OptionGroup var place: IndexPlaceOptions

    func run() async throws {
        try place.run { storage in
            let indexes = try storage.indexes()
            return (
                indexes.isEmpty
                    ? ["No table has an index of its own."]
                    : indexes.map { $0.index.line(of: $0.table) },
                .object([.init("items", .array(indexes.map { $0.index.json(of: $0.table) }))])
            )
        }
    }
}

/// `understudy-site indexes add TABLE QUERY`.
struct IndexesAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Build the index that a list of a table needs.",
        discussion: """
            The query is that of the list: its columns that equal one value come first in the index, then those \
            of its order. A table has at most \(Site.Limits.indexesOfTable). JSON: {table, id, columns}.
            """)

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The list's query: '$filter=complete eq false&$orderby=price desc'.")
    var query: String

    @OptionGroup var place: IndexPlaceOptions

    func run() async throws {
        let name = try IndexPlaceOptions.table(table)
        let wanted: TableQuery
        do {
            wanted = try TableQuery.parse(
                try QueryParameter.split(query[...]), generation: .mobileApps)
        } catch {
            throw StartProblem("The query cannot be read: \(error)", .error)
        }
        try place.run { storage in
            let index = try storage.addIndex(to: name, for: wanted)
            return (["\(index.line(of: name)) is built."], index.json(of: name))
        }
    }
}

/// `understudy-site indexes drop TABLE ID`.
struct IndexesDrop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Drop an index.", discussion: "JSON: {}.")

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The number that list shows.")
    var id: Int64

    @OptionGroup var place: IndexPlaceOptions

    func run() async throws {
        let name = try IndexPlaceOptions.table(table)
        try place.run { storage in
            try storage.dropIndex(id, of: name)
            return (["Index \(id) of \(name) is dropped."], .object([]))
        }
    }
}
