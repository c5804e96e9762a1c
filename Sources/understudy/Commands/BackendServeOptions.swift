import ArgumentParser
import Backend
import Proxy

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
