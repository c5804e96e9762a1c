package import ArgumentParser
import Backend

/// The options of a backend, for a site or not. Each can be set as an environment variable too.
package struct BackendServeOptions: ParsableArguments {
    @Option(help: "Where to listen. (default: 127.0.0.1:8081)")
    package var listen: String?

    @Option(help: "The data folder. (default: understudy-backend in ~/.local/share)")
    package var data: String?

    @Option(
        name: [.long, .customLong("generation")],
        help: """
            Which server it answers like: \
            \(BackendFlavour.allCases.map(\.rawValue).joined(separator: ", ")). (default: 2)
            """)
    package var flavour: String?

    @Option(
        help: ArgumentHelp(
            """
            A table that exists from the start; after a colon, joined by +, what is special about \
            it: \(BackendTable.Word.allCases.map(\.rawValue).joined(separator: ", ")). Repeat it. \
            (default: tables come with their first write; express: none)
            """, valueName: "table[:words]"))
    package var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "A table whose ids are integers that it assigns; repeat it.", valueName: "table"))
    package var integerIds: [String] = []

    @Option(
        help: ArgumentHelp("A table that deletes for good; repeat it.", valueName: "table"))
    package var hardDelete: [String] = []

    @Option(
        help: ArgumentHelp(
            "A table that needs a sign-in, with items for each user; repeat it.",
            valueName: "table"))
    package var signIn: [String] = []

    @Option(help: ArgumentHelp("Rows in one answer. (default: as the server)", valueName: "rows"))
    package var pageRows: String?

    @Option(
        help: ArgumentHelp(
            """
            How many requests a second are taken. Others are answered 429, with a Retry-After that \
            spreads the clients' return. (default: all)
            """, valueName: "requests"))
    package var requestsPerSecond: String?

    @Option(
        help: ArgumentHelp(
            """
            Where clients find it, if something in front of it speaks TLS: Link, nextLink and \
            Location begin so. (default: what the request addressed)
            """, valueName: "url"))
    package var publicAddress: String?

    @OptionGroup package var log: LogOptions

    package init() {}

    /// The flags by the names of their settings.
    package var flags: [String: [String]] {
        func list(_ value: String?) -> [String] { value.map { [$0] } ?? [] }
        let own: [String: [String]] = [
            Settings.anyListen.name: list(listen), Settings.backendData.name: list(data),
            Settings.flavour.name: list(flavour),
            Settings.backendTable.name: table, Settings.integerIDs.name: integerIds,
            Settings.hardDelete.name: hardDelete, Settings.signIn.name: signIn,
            Settings.pageRows.name: list(pageRows),
            Settings.requestsPerSecond.name: list(requestsPerSecond),
            Settings.publicAddress.name: list(publicAddress),
        ]
        return own.merging(log.flags) { $1 }
    }
}
