import ArgumentParser
import Backend
import Proxy

/// `understudy backend`: the backend itself, and how rows get into it.
struct BackendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backend",
        abstract: "Run a backend, or move rows into it.",
        discussion: """
            Without a subcommand it runs: `understudy backend --listen 127.0.0.1:8081` is \
            `understudy backend run --listen 127.0.0.1:8081`, and `understudy backend run --help` lists \
            its options. docs/SITE.md tells how a site moves in.
            """,
        subcommands: [Backend.self, BackendImport.self, BackendCopy.self],
        defaultSubcommand: Backend.self)
}

/// Which backend rows move into.
struct BackendPlaceOptions: ParsableArguments {
    @Option(
        help: "The backend's data folder. (default: understudy-backend in ~/.local/share)",
        completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp(
            "The backend's PostgreSQL, as `understudy backend` is given it.", valueName: "url"))
    var database: String?

    @Option(
        help: """
            The backend's configuration file. (default: understudy/backend.conf in ~/.config, where \
            it is)
            """, completion: .file())
    var config: String?

    @Flag(
        help: """
            Clients sync with this backend already: rows get new stamps, so that they learn of \
            them. A table that clients have written to is taken so in any case.
            """)
    var inUse = false

    /// The settings of the backend: the flags, the environment, and its configuration file.
    func sources() throws(StartProblem) -> Sources {
        Sources(
            flags: [
                Settings.backendData.name: data.map { [$0] } ?? [],
                Settings.database.name: database.map { [$0] } ?? [],
            ], environment: ThisProcess.environment,
            file: try ConfigurationFile.load(
                flag: config, environment: ThisProcess.environment, for: .backend))
    }
}

/// A backend's rows while a command writes them and no server listens.
struct OpenedBackend {
    let backend: TablesBackend
    private let lock: FolderLock?

    /// Opens the backend of the settings. A folder is locked; nodes may serve PostgreSQL meanwhile.
    /// - Parameter isRehearsal: whether nothing is to be written. Then a folder without a backend stays as it
    ///   is, and an empty one in memory is in its place.
    init(_ sources: Sources, isRehearsal: Bool = false) throws(StartProblem) {
        do {
            if let url = try sources.value(Settings.database) {
                lock = nil
                backend = try TablesBackend(database: url) { ThisProcess.now }
                return
            }
            let folder =
                try sources.value(Settings.backendData)
                ?? DataFolder.standard(
                    name: "understudy-backend", environment: sources.environment)
            let file = "\(folder.path)/backend.sqlite"
            if isRehearsal, !Files.exists(file) {
                lock = nil
                backend = try TablesBackend { ThisProcess.now }
                return
            }
            let lock = try folder.open()
            self.lock = lock
            backend = try TablesBackend(at: file) { ThisProcess.now }
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("The backend's database cannot be opened: \(error)")
        }
    }

    /// Lets a server use the folder.
    func close() { lock?.release() }
}

/// The options of `understudy backend` that may also stand in its configuration file and in the environment.
struct BackendServeOptions: ParsableArguments {
    @Option(help: "Where to listen. (default: 127.0.0.1:8081)")
    var listen: String?

    @Option(help: "The data folder. (default: understudy-backend in ~/.local/share)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            """
            Keep the rows in PostgreSQL (15 or later) instead of the data folder: its URL as libpq \
            reads it, with several hosts where a standby may take over. UNDERSTUDY_DATABASE keeps a \
            password out of the list of processes.
            """, valueName: "url"))
    var database: String?

    @Option(
        name: [.long, .customLong("generation")],
        help: """
            Which server it answers like: \
            \(BackendFlavour.allCases.map(\.rawValue).joined(separator: ", ")). (default: 2)
            """)
    var flavour: String?

    @Option(
        help: ArgumentHelp(
            """
            A table that exists from the start; after a colon, joined by +, what is special about \
            it: \(BackendTable.Word.allCases.map(\.rawValue).joined(separator: ", ")). Repeat it. \
            (default: tables come with their first write; express: none)
            """, valueName: "table[:words]"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "A table whose ids are integers that it assigns; repeat it.", valueName: "table"))
    var integerIds: [String] = []

    @Option(
        help: ArgumentHelp("A table that deletes for good; repeat it.", valueName: "table"))
    var hardDelete: [String] = []

    @Option(
        help: ArgumentHelp(
            "A table that needs a sign-in, with items for each user; repeat it.",
            valueName: "table"))
    var signIn: [String] = []

    @Option(help: ArgumentHelp("Rows in one answer. (default: as the server)", valueName: "rows"))
    var pageRows: String?

    @Option(
        help: ArgumentHelp(
            """
            How many requests a second are taken. Others are answered 429, with a Retry-After that \
            spreads the clients' return. (default: all)
            """, valueName: "requests"))
    var requestsPerSecond: String?

    @Option(
        help: ArgumentHelp(
            """
            How long after SIGTERM it goes on, while /-/readyz is 503 and a balancer turns away. \
            (default: 5 with --access-file, else 0)
            """, valueName: "seconds"))
    var drain: String?

    @Option(
        help: ArgumentHelp(
            "A JSON file that says whose tokens are good; docs/OPERATIONS.md describes it.",
            valueName: "file"))
    var accessFile: String?

    @Option(
        help: ArgumentHelp(
            """
            A file with the administrator's token in its first line. With --access-file, all that \
            is neither a table nor a login needs it.
            """, valueName: "file"))
    var adminTokenFile: String?

    @Option(
        help: ArgumentHelp(
            """
            Who may do what --table says nothing about: anonymous, authenticated, or disabled, where \
            no table comes with its first write either. (default with --access-file: authenticated)
            """, valueName: "level"))
    var defaultAccess: String?

    @Option(
        help: ArgumentHelp(
            "The certificate to show clients with those above it, a PEM file.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("Its key, a PEM file, not encrypted.", valueName: "file"))
    var tlsKey: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether it listens without TLS where other machines reach it. (default: no)")
    var allowPlainHttp: Bool?

    @Option(
        help: ArgumentHelp(
            """
            Where clients find it, if something in front of it speaks TLS: Link, nextLink and \
            Location begin so. (default: what the request addressed)
            """, valueName: "url"))
    var publicAddress: String?

    @OptionGroup var log: LogOptions

    /// The flags by the names of their settings.
    var flags: [String: [String]] {
        func list(_ value: String?) -> [String] { value.map { [$0] } ?? [] }
        let own: [String: [String]] = [
            Settings.anyListen.name: list(listen), Settings.backendData.name: list(data),
            Settings.database.name: list(database), Settings.flavour.name: list(flavour),
            Settings.backendTable.name: table, Settings.integerIDs.name: integerIds,
            Settings.hardDelete.name: hardDelete, Settings.signIn.name: signIn,
            Settings.pageRows.name: list(pageRows),
            Settings.requestsPerSecond.name: list(requestsPerSecond),
            Settings.drain.name: list(drain), Settings.accessFile.name: list(accessFile),
            Settings.adminTokenFile.name: list(adminTokenFile),
            Settings.defaultAccess.name: list(defaultAccess),
            Settings.certificate.name: list(tlsCertificate),
            Settings.certificateKey.name: list(tlsKey),
            Settings.servePlainHTTP.name: allowPlainHttp.texts,
            Settings.publicAddress.name: list(publicAddress),
        ]
        return own.merging(log.flags) { $1 }
    }
}
