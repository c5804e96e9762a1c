import ArgumentParser
import Backend
import Program
import Proxy
import Site
import TablesProtocol

/// `understudy-site indexes`.
struct Indexes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Indexes for lists in the order of a column, in PostgreSQL.",
        discussion: """
            An index makes such lists quick, and every write of its table a little slower. Nodes serve \
            while one is built, and use it from its end on.
            """,
        subcommands: [IndexesList.self, IndexesAdd.self, IndexesDrop.self],
        defaultSubcommand: IndexesList.self)
}

/// Where the indexes are.
struct IndexPlaceOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions

    @Flag(help: "Print JSON.")
    var json = false

    /// Does something with the rows, and prints the lines or the JSON that it gives.
    func run(_ body: (PostgreSQLRowStorage) throws -> (lines: [String], json: JSONValue)) throws {
        do {
            guard let url = try database.sources().value(Settings.database) else {
                throw SiteConfiguration.needsPostgreSQL("indexes")
            }
            let (lines, json) = try body(PostgreSQLRowStorage(at: url))
            if self.json { return ThisProcess.print(json: json.text) }
            for line in lines { ThisProcess.print(line) }
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }
}

/// The table and the column of an index.
struct IndexArguments: ParsableArguments {
    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The column by which lists are ordered, such as price, or 'price desc'.")
    var column: String

    /// The name of the table.
    func name() throws(StartProblem) -> TableName {
        guard let name = TableName(table) else {
            throw StartProblem("\"\(table)\" is no name of a table.")
        }
        return name
    }
}

/// `understudy-site indexes list`.
struct IndexesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The indexes there are, with their size and use.",
        discussion: "JSON: {items: [{table, column, ready, bytes, uses}]}.")

    @OptionGroup var place: IndexPlaceOptions

    func run() async throws {
        try place.run { storage in
            let indexes = try storage.indexes()
            let lines = indexes.map { index in
                let times = "\(index.uses) \(index.uses == 1 ? "time" : "times")"
                let state = index.isReady ? "used \(times)" : "not built: add it again"
                return "\(index.table)  \(index.column)  \(index.bytes >> 10) KiB  \(state)"
            }
            let items = indexes.map { index in
                JSONValue.object([
                    .init("table", .string(index.table.text)),
                    .init("column", .string(index.column)), .init("ready", .bool(index.isReady)),
                    .init("bytes", .number(JSONNumber(index.bytes))),
                    .init("uses", .number(JSONNumber(index.uses))),
                ])
            }
            return (
                lines.isEmpty ? ["No table has an index by a column."] : lines,
                .object([.init("items", .array(items))])
            )
        }
    }
}

/// `understudy-site indexes add TABLE COLUMN`.
struct IndexesAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Build the index that lists in the order of a column need.",
        discussion: """
            A filter needs none to find the few rows that equal a value. JSON: {added}.
            """)

    @OptionGroup var index: IndexArguments
    @OptionGroup var place: IndexPlaceOptions

    func run() async throws {
        let table = try index.name()
        try place.run { storage in
            let isNew = try storage.addIndex(of: table, by: index.column) { ThisProcess.say($0) }
            let state = isNew ? "is built" : "was there"
            return (
                ["The index of \(table) by \(index.column) \(state)."],
                .object([.init("added", .bool(isNew))])
            )
        }
    }
}

/// `understudy-site indexes drop TABLE COLUMN`.
struct IndexesDrop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Drop an index.", discussion: "JSON: {}.")

    @OptionGroup var index: IndexArguments
    @OptionGroup var place: IndexPlaceOptions

    func run() async throws {
        let table = try index.name()
        try place.run { storage in
            try storage.dropIndex(of: table, by: index.column)
            return (["The index of \(table) by \(index.column) is dropped."], .object([]))
        }
    }
}
