import ArgumentParser
import Backend
import Proxy
import TablesProtocol

/// `understudy backend import FILE…`.
struct BackendImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Move rows into a backend, from exports of one or many Understudy stores.",
        discussion: """
            For a backend that does not answer any more. Each file is one that `understudy export` \
            wrote. Of each row the newest version moves in, by the old backend's own stamp, with its \
            id, version, times and deletion; what clients have changed since is not part of it. \
            Open operations are listed. They stay in the queue of their Understudy, which sends them \
            when it is started with `--rebind` and this backend. Rows that clients have changed or \
            deleted here stay as they are. The import can be repeated, and goes on after it was \
            stopped. It ends with 4 where two rows differ and no stamp says which is newer. \
            JSON: {dryRun, files: [{file, identity, rows, operations}], tables: [{table, added, \
            replaced, same, older, changedHere, deletedHere, undecided}], rows: [{place, table, id, \
            outcome}], operations: [{file, id, table, itemId, kind, state}]}.
            """)

    @Argument(
        help: "Files that `understudy export` wrote; - for standard input.", completion: .file())
    var files: [String]

    @OptionGroup var place: BackendPlaceOptions

    @Option(
        help: ArgumentHelp(
            """
            Whose rows of --owned-table these files have: the user's name in tokens of this site. \
            Rows that say it themselves keep it.
            """, valueName: "user"))
    var owner: String?

    @Option(
        help: ArgumentHelp(
            "A table in which each user has rows of their own; repeat it.", valueName: "table"))
    var ownedTable: [String] = []

    @Option(
        help: ArgumentHelp("The column that says whose row it is.", valueName: "column"))
    var ownerColumn = "userId"

    @Flag(help: "Only say what would be done.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if (owner == nil) != ownedTable.isEmpty {
            throw ValidationError("--owner and --owned-table belong together; give both.")
        }
    }

    func run() async throws {
        let opened = try OpenedBackend(place.sources())
        defer { opened.close() }
        var importer = BackendImporter(
            backend: opened.backend, isInUse: place.inUse, isRehearsal: dryRun,
            owner: owner.map { ExportOwner(user: $0, column: ownerColumn, tables: ownedTable) })
        for file in files { try await importer.take(file) }
        if json {
            ThisProcess.print(json: importer.json.text)
        } else {
            for line in importer.lines { ThisProcess.print(line) }
        }
        if importer.report.count(.undecided) > 0 { throw ExitStatus.conflicts }
    }
}
