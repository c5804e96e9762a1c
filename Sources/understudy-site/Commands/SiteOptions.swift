import ArgumentParser
import Program

/// The options of a site alone.
struct SiteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Keep the rows in PostgreSQL (15 or later) instead of the data folder: its URL as libpq \
            reads it, with several hosts where a standby may take over. UNDERSTUDY_DATABASE keeps a \
            password out of the list of processes.
            """, valueName: "url"))
    var database: String?

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

    /// The flags by the names of their settings.
    var flags: [String: [String]] {
        func list(_ value: String?) -> [String] { value.map { [$0] } ?? [] }
        return [
            Settings.database.name: list(database), Settings.drain.name: list(drain),
            Settings.accessFile.name: list(accessFile),
            Settings.adminTokenFile.name: list(adminTokenFile),
            Settings.defaultAccess.name: list(defaultAccess),
            Settings.certificate.name: list(tlsCertificate),
            Settings.certificateKey.name: list(tlsKey),
            Settings.servePlainHTTP.name: allowPlainHttp.texts,
        ]
    }
}
