import ArgumentParser
import Backend
import HTTPServer
import Proxy
import TablesProtocol

/// `understudy backend`: a complete tables backend for trying things out.
struct Backend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the reference backend, to try things out.",
        discussion: """
            With --faults, PUT /-/faults makes it slow, wrong or absent.

            --flavour express is azure-mobile-apps for Node in an application of its own: it has \
            only the tables that --table names, everything else is Express' page 404, pages have \
            1,000 rows, and tables delete for good. A token for a table with the word authenticated \
            comes from POST /.auth/login/PROVIDER with {"access_token":"ANY NAME"}.

              understudy backend --flavour express --table movies --table numbers:integer \
            --table secrets:authenticated+no-delete
            """)

    @Option(help: "Where to listen; a loopback address. (default: 127.0.0.1:8081)")
    var listen: String?

    @Option(help: "The data folder. (default: understudy-backend in ~/.local/share)")
    var data: String?

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

    @Option(
        help: ArgumentHelp(
            """
            How many requests a second are taken. Others are answered 429, with a Retry-After that \
            spreads the clients' return. (default: all)
            """, valueName: "requests"))
    var requestsPerSecond: Int?

    @Flag(help: "Serve PUT /-/faults and GET /-/effects.")
    var faults = false

    @Flag(help: "Begin with a dozen sample todos.")
    var samples = false

    @Option(
        help: ArgumentHelp(
            "A table that needs a sign-in, with items for each user; repeat it.",
            valueName: "table"))
    var signIn: [String] = []

    func validate() throws {
        if let pageRows, pageRows < 1 { throw ValidationError("--page-rows is 1 or more.") }
        if let requestsPerSecond, requestsPerSecond < 1 {
            throw ValidationError("--requests-per-second is 1 or more.")
        }
    }

    /// The tables of the settings; where one needs a sign-in, only tokens of this backend are good.
    private func addTables(
        to options: inout BackendOptions, _ sources: Sources
    ) throws(ConfigurationProblem) {
        let standard = TableOptions.standard(of: options.flavour)
        for table in try sources.list(Settings.backendTable) {
            options.tables[table.name] = table.options(of: options.flavour)
        }
        for name in try sources.list(Settings.integerIDs) {
            options.tables[name, default: standard].idKind = .integer
        }
        for name in try sources.list(Settings.hardDelete) {
            options.tables[name, default: standard].softDelete = false
        }
        for name in try sources.list(Settings.signIn) {
            options.tables[name, default: standard].needsSignIn = true
        }
        if options.tables.values.contains(where: \.needsSignIn) { options.tokens = .issued }
    }

    func run() async throws {
        let environment = ThisProcess.environment
        let sources = Sources(
            flags: [
                Settings.listen.name: listen.map { [$0] } ?? [],
                Settings.data.name: data.map { [$0] } ?? [],
                Settings.flavour.name: flavour.map { [$0] } ?? [],
                Settings.backendTable.name: table, Settings.integerIDs.name: integerIds,
                Settings.hardDelete.name: hardDelete,
                Settings.signIn.name: signIn,
            ], environment: environment)
        let address: ListenAddress
        let folder: DataFolder
        var options: BackendOptions
        do {
            address =
                try sources.value(Settings.listen) ?? ListenAddress(host: "127.0.0.1", port: 8081)
            folder =
                try sources.value(Settings.data)
                ?? DataFolder.standard(name: "understudy-backend", environment: environment)
            options = BackendOptions(flavour: try sources.value(Settings.flavour) ?? .mobileApps)
            try addTables(to: &options, sources)
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        }
        if options.flavour == .express, options.tables.isEmpty {
            throw StartProblem(
                "The flavour express has only the tables that are given. Name one with --table.")
        }
        options.servesFaults = faults
        options.pageRows = pageRows
        options.requestsPerSecond = requestsPerSecond
        let lock = try folder.open()
        defer { lock.release() }
        let backend = try RunningBackend.start(
            address, file: "\(folder.path)/backend.sqlite", options: options, samples: samples)
        ThisProcess.say("The reference backend listens at http://\(backend.address)/tables/")
        try await Lifetime(services: [backend.service], log: try ProcessLog(sources).logger).run()
    }
}
