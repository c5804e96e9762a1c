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
            stopped. It ends with 4 where two rows differ and no stamp says which is newer, and where a \
            row of --owned-table has another owner than --owner, or a row none in a table in which the \
            settings give each user rows of their own. \
            JSON: {dryRun, files: [{file, identity, rows, operations}], tables: [{table, added, \
            replaced, same, older, changedHere, deletedHere, undecided}], rows: [{place, table, id, \
            outcome}], otherOwners: [{table, rows, example}], withoutOwner: [{table, rows, column}], \
            hiddenColumns: [{table, rows, columns}], operations: [{file, id, table, itemId, \
            kind, state}]}.
            """)

    @Argument(
        help: "Files that `understudy export` wrote; - for standard input.", completion: .file())
    var files: [String]

    @OptionGroup var place: BackendPlaceOptions

    @OptionGroup var whose: MovedOwnerOptions

    @Flag(help: "Only say what would be done.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws { _ = try whose.read() }

    func run() async throws {
        let sources = try place.sources()
        let columns = try MovedColumns(sources)
        let opened = try OpenedBackend(sources, isRehearsal: dryRun)
        defer { opened.close() }
        var importer = BackendImporter(
            backend: opened.backend, isInUse: place.inUse, isRehearsal: dryRun,
            owner: try whose.read(), columns: columns)
        try await importer.look(into: files)
        for file in files { try await importer.take(file) }
        if json {
            ThisProcess.print(json: importer.json.text)
        } else {
            for line in importer.lines { ThisProcess.print(line) }
        }
        // After the report: rows of files that can be read only once have moved by now.
        try await importer.checkOwnedTables()
        if importer.report.count(.undecided) > 0 || importer.report.hasOtherOwners
            || importer.columns.hasRowsWithoutOwner
        {
            throw ExitStatus.conflicts
        }
    }
}
