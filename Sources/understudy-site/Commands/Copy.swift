import ArgumentParser
import Backend
import HTTPClient
import HTTPMessage
import HTTPTypes
import Logging
import Platform
import Program
import Site
import SyncCore
import TablesProtocol

/// `understudy-site copy --from URL`.
struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Move rows into a backend, from another one that still answers.",
        discussion: """
            The tables are pulled as an Understudy pulls them, page by page, into a store of their \
            own, deleted rows too where the other backend gives them. Then they move in with ids, \
            versions and times. At the end both sides are compared row by row; of --owned-table only \
            the rows of --owner. It ends with 4 where they differ, where a row of --owned-table has \
            another owner, and where a row has none in a table in which the settings give each user rows \
            of their own. A table that fails does not stop the others. Started again, a copy \
            goes on where it was stopped, and a finished one takes what has changed since. A token goes into \
            a file of --header-file, in a line such as `X-ZUMO-AUTH: …`. JSON: {from, tables: \
            [{table, there, here, setAside, differences: [{id, kinds}]}], moved: [{table, added, \
            replaced, same, older, changedHere, deletedHere, undecided}], \
            otherOwners: [{table, rows, example}], withoutOwner: [{table, rows, column}], \
            hiddenColumns: [{table, rows, columns}]}.
            """)

    @Option(help: ArgumentHelp("The address of the other backend.", valueName: "url"))
    var from: String

    @Option(help: ArgumentHelp("A table to copy; repeat it.", valueName: "name"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "A header field for each request to the other backend; repeat it.",
            valueName: "name:value"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with such header fields, one on each line.", valueName: "file"),
        completion: .file())
    var headerFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with the application key of a generation 1 backend.", valueName: "file"),
        completion: .file())
    var applicationKeyFile: String?

    @Option(Settings.backendGeneration) var backendGeneration: String?
    @Option(Settings.pageSize) var pageSize: String?

    @Option(
        help: ArgumentHelp(
            """
            The folder in which the copy keeps how far it is. The copy of another user's rows needs \
            one of its own. (default: understudy-copy in ~/.local/share)
            """, valueName: "folder"), completion: .directory)
    var work: String?

    @OptionGroup var connection: BackendConnectionOptions

    @OptionGroup var place: BackendPlaceOptions

    @OptionGroup var whose: MovedOwnerOptions

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if table.isEmpty {
            throw ValidationError("Name the tables with --table: a backend does not list them.")
        }
        for owned in try whose.read()?.tables ?? []
        where !table.contains(where: { TableName($0)?.key == owned.key }) {
            throw ValidationError("--owned-table names \(owned), and no --table does.")
        }
    }

    func run() async throws {
        let tables = try table.map { name throws(StartProblem) in
            guard let table = TableName(name) else {
                throw StartProblem("\"\(name)\" is no name of a table.")
            }
            return table
        }
        let sources = Sources(
            flags: connection.flags.merging([
                Settings.backendGeneration.name: backendGeneration.map { [$0] } ?? [],
                Settings.pageSize.name: pageSize.map { [$0] } ?? [],
            ]) { $1 }, environment: ThisProcess.environment)
        let old = try oldBackend(sources)
        let log = try ProcessLog(sources)
        let target = try place.sources()
        let columns = try MovedColumns(target)
        let opened = try OpenedBackend(target)
        defer { opened.close() }
        var copier = Copier(
            backend: opened.backend, isInUse: place.inUse, owner: try whose.read(),
            columns: columns)
        try await old.whileOpen(log: log.logger) { engine, store throws(StartProblem) in
            await copier.copy(tables, engine, store)
        }
        if json {
            ThisProcess.print(json: copier.json(from: old.address.description).text)
        } else {
            for line in copier.lines { ThisProcess.print(line) }
        }
        if let problem = copier.problem { throw problem }
        if copier.differs { throw ExitStatus.conflicts }
    }

    private func oldBackend(_ sources: Sources) throws -> OldBackend {
        guard let address = BackendAddress(from) else {
            throw StartProblem(
                "--from is an http or https address such as https://example.azurewebsites.net.")
        }
        do {
            let connection = try BackendConnection(sources)
            try connection.check(address)
            let folder =
                try work.map { DataFolder(path: $0) }
                ?? DataFolder.standard(name: "understudy-copy", environment: sources.environment)
            return OldBackend(
                address: address,
                generation: try sources.valueOrDefault(Settings.backendGeneration),
                applicationKey: try applicationKeyFile.map(
                    BackendConnection.applicationKey(file:)),
                fields: try fields(), connection: connection, folder: folder,
                pageRows: try sources.valueOrDefault(Settings.pageSize))
        } catch {
            throw StartProblem(reading: error)
        }
    }

    private func fields() throws -> HTTPFields {
        var lines = header
        if let headerFile {
            guard let bytes = try Files.read(headerFile, mayBePipe: true) else {
                throw StartProblem("There is no file \(headerFile).")
            }
            lines += String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
                .map(String.init)
        }
        var fields: HTTPFields = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
                throw StartProblem("A header field is written NAME:VALUE.")
            }
            fields[name] = String(parts[1].drop { $0 == " " })
        }
        return fields
    }
}

/// The backend that is copied, and the store into which it is pulled.
struct OldBackend {
    let address: BackendAddress
    let generation: BackendConfiguration.GenerationChoice
    let applicationKey: String?
    /// The header fields of each request.
    let fields: HTTPFields
    let connection: BackendConnection
    /// Where the stores of copies are.
    let folder: DataFolder
    /// How many rows a page has at most.
    let pageRows: Int

    /// Opens the store of this backend, and closes it afterwards.
    func whileOpen(
        log: Logger,
        _ body: (SyncEngine, Store) async throws(StartProblem) -> Void
    ) async throws(StartProblem) {
        let own = DataFolder(path: "\(folder.path)/\(PercentCoding.encode(address.description))")
        let lock = try own.openForDatabase()
        defer { lock.release() }
        let clock = SystemClock()
        let transport: CurlTransport
        let store: Store
        do {
            transport = try CurlTransport(
                connection.client(connections: Program.Limits.syncConnections))
        } catch {
            throw StartProblem(error.message, .error)
        }
        do {
            store = try Store(
                at: "\(own.path)/store.sqlite", identity: Store.anonymous, clock: clock,
                ids: SystemIDSource(), workers: 1)
        } catch {
            throw StartProblem(error.description, .error)
        }
        var settings = SyncSettings()
        settings.triggers = []
        settings.pageRows = pageRows
        let engine = SyncEngine(
            store: store, transport: FieldAddingTransport(base: transport, fields: fields),
            backend: BackendConfiguration(
                address: address, generation: generation, applicationKey: applicationKey),
            settings: settings, clock: clock, log: log)
        let result: Result<Void, StartProblem>
        do throws(StartProblem) {
            result = .success(try await body(engine, store))
        } catch {
            result = .failure(error)
        }
        await transport.stop()
        try? store.close()
        try result.get()
    }
}

/// A transport that adds header fields to each request.
private struct FieldAddingTransport: HTTPTransport {
    let base: any HTTPTransport
    let fields: HTTPFields

    func send(_ request: Request) async throws(TransportError) -> Response {
        var request = request
        for field in fields { request.head.headerFields[field.name] = field.value }
        return try await base.send(request)
    }
}
