import ArgumentParser
import Backend
import Logging
import Proxy

/// `understudy backend`: a complete tables backend, for trying things out or, with `--access-file`, for a site.
struct Backend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a backend: to try things out, or for a site.",
        discussion: """
            With --access-file it verifies users' tokens, and may listen on other addresses than \
            loopback ones. Without it, it is the reference backend, which takes everybody for whom \
            they say they are. SIGHUP reads the access file, its keys and the certificate again.

              understudy backend --listen 0.0.0.0:443 --tls-certificate site.pem --tls-key site.key \
            --access-file access.json --admin-token-file admin.token --table todos:per-user

            With --faults, PUT /-/faults makes it slow, wrong or absent.

            --flavour express is azure-mobile-apps for Node in an application of its own: it has \
            only the tables that --table names, everything else is Express' page 404, pages have \
            1,000 rows, and tables delete for good. A token for a table with the word authenticated \
            comes from POST /.auth/login/PROVIDER with {"access_token":"ANY NAME"}.

              understudy backend --flavour express --table movies --table numbers:integer \
            --table secrets:authenticated+no-delete
            """)

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

    @Option(help: ArgumentHelp("Rows in one answer. (default: as the server)", valueName: "rows"))
    var pageRows: Int?

    @Flag(help: "Serve PUT /-/faults and GET /-/effects.")
    var faults = false

    @Flag(help: "Begin with a dozen sample todos.")
    var samples = false

    @Option(
        help: ArgumentHelp(
            "A table that needs a sign-in, with items for each user; repeat it.",
            valueName: "table"))
    var signIn: [String] = []

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

    @Flag(help: "Listen without TLS where other machines reach it.")
    var allowPlainHttp = false

    func validate() throws {
        if samples, accessFile != nil {
            throw ValidationError(
                "--samples are those of the reference backend, without --access-file.")
        }
        if let pageRows, pageRows < 1 { throw ValidationError("--page-rows is 1 or more.") }
    }

    private var sources: Sources {
        func list(_ value: String?) -> [String] { value.map { [$0] } ?? [] }
        return Sources(
            flags: [
                Settings.anyListen.name: list(listen), Settings.data.name: list(data),
                Settings.database.name: list(database), Settings.flavour.name: list(flavour),
                Settings.backendTable.name: table, Settings.integerIDs.name: integerIds,
                Settings.hardDelete.name: hardDelete, Settings.signIn.name: signIn,
                Settings.accessFile.name: list(accessFile),
                Settings.adminTokenFile.name: list(adminTokenFile),
                Settings.defaultAccess.name: list(defaultAccess),
                Settings.certificate.name: list(tlsCertificate),
                Settings.certificateKey.name: list(tlsKey),
                Settings.allowPlainHTTP.name: allowPlainHttp ? ["yes"] : [],
            ], environment: ThisProcess.environment)
    }

    func run() async throws {
        let sources = sources
        let security = try BackendSecurity(sources)
        let configuration: BackendServeConfiguration
        do {
            configuration = try BackendServeConfiguration(
                sources, verifiesTokens: security.access != nil)
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        }
        try security.check(
            configuration.listen, allowsPlainHTTP: configuration.allowsPlainHTTP)
        var options = configuration.options
        options.servesFaults = faults
        options.servesHealth = true
        options.pageRows = pageRows
        // Nodes that share PostgreSQL keep nothing in a folder.
        let lock = try configuration.database == nil ? configuration.folder.open() : nil
        defer { lock?.release() }
        let backend = try RunningBackend.start(
            configuration.listen,
            on: configuration.database.map(RunningBackend.Database.postgreSQL)
                ?? .file("\(configuration.folder.path)/backend.sqlite"),
            options: options, samples: samples, security: security)
        let log = try ProcessLog(sources).logger
        ThisProcess.say(
            "The \(security.access == nil ? "reference backend" : "backend") listens at "
                + "\(backend.scheme)://\(backend.address)/tables/")
        var lifetime = Lifetime(services: [backend.service], log: log)
        if security.access != nil || security.certificate != nil {
            lifetime.onHangUp = {
                do {
                    try await backend.reload(BackendSecurity(sources))
                    log.notice("keys and certificate read again")
                } catch {
                    log.error("keys and certificate kept", metadata: ["problem": "\(error)"])
                }
            }
        }
        try await lifetime.run()
    }
}
