package import Backend
package import HTTPServer
package import Proxy
package import TablesProtocol

// The settings of a backend, for a site or not.
extension Settings {
    package static let anyListen = Setting<ListenAddress>(
        name: "listen", allowed: "an address with a port, such as 127.0.0.1:8081 or 0.0.0.0:443",
        about: SettingText(
            "Where proxies and clients find the backend.",
            standard: "127.0.0.1:8081", example: "0.0.0.0:443")
    ) { try? ListenAddress($0) }

    package static let backendTable = Setting<BackendTable>(
        name: "table", allowed: BackendTable.allowed,
        about: SettingText(
            "A table that exists from the start, and what is special about it.",
            standard: "tables come with their first write", example: "todos:per-user",
            isList: true)
    ) { BackendTable($0) }

    package static let backendData = Setting<DataFolder>(
        name: data.name, allowed: data.allowed,
        about: SettingText(
            "The folder of the rows without database.",
            standard: "understudy-backend in $XDG_DATA_HOME or ~/.local/share",
            example: "/var/lib/understudy-backend"),
        read: data.read)

    package static let flavour = Setting<BackendFlavour>(
        name: "flavour",
        allowed: "one of \(BackendFlavour.allCases.map(\.rawValue).joined(separator: ", "))",
        about: SettingText(
            "Which server it answers like.", standard: "2", example: "2")
    ) { BackendFlavour(rawValue: $0) }

    package static let integerIDs = named(
        "integer-ids", "A table whose ids are integers that it assigns.", example: "numbers")
    package static let hardDelete = named(
        "hard-delete", "A table that deletes for good.", example: "drafts")
    package static let signIn = named(
        "sign-in", "A table that needs a sign-in, with items for each user.", example: "todos")

    package static let pageRows = wholeNumber(
        "page-rows", in: 1...100_000,
        about: SettingText(
            "Rows in one answer.", standard: "as the server of the flavour", example: "1000"))

    package static let requestsPerSecond = wholeNumber(
        "requests-per-second", in: 1...1_000_000,
        about: SettingText(
            "How many requests a second are taken; others are told when to return.",
            standard: "all", example: "2000"))

    package static let publicAddress = Setting<PublicAddress>(
        name: "public-address",
        allowed: "an http or https address without a path, such as https://site.example",
        about: SettingText(
            "Where clients find it, if something in front of it speaks TLS: links begin so.",
            standard: "what the request addressed", example: "https://site.example")
    ) { PublicAddress($0) }

    private static func named(
        _ name: String, _ summary: String, example: String
    ) -> Setting<TableName> {
        Setting<TableName>(
            name: name, allowed: "the name of a table: letters, digits and _, not a digit first",
            about: SettingText(summary, standard: "none", example: example, isList: true)
        ) { TableName($0) }
    }
}
