import Backend
import HTTPServer
import Proxy
import TablesProtocol

// The settings of `backend`.
extension Settings {
    static let anyListen = Setting<ListenAddress>(
        name: "listen", allowed: "an address with a port, such as 127.0.0.1:8081 or 0.0.0.0:443",
        about: SettingText(
            "Where proxies and clients find the backend.",
            standard: "127.0.0.1:8081", example: "0.0.0.0:443")
    ) { try? ListenAddress($0) }

    static let backendTable = Setting<BackendTable>(
        name: "table", allowed: BackendTable.allowed,
        about: SettingText(
            "A table that exists from the start, and what is special about it.",
            standard: "tables come with their first write", example: "todos:per-user",
            isList: true)
    ) { BackendTable($0) }

    /// Read by libpq alone, and never shown: it may hold a password.
    static let database = Setting<String>(
        name: "database", allowed: "a URL",
        about: SettingText(
            "PostgreSQL's URL, with all hosts of which one may take over. All nodes have the same.",
            standard: "a file of SQLite in the data folder",
            example: "postgresql://understudy@db1,db2/understudy")
    ) { $0 }

    static let backendData = Setting<DataFolder>(
        name: data.name, allowed: data.allowed,
        about: SettingText(
            "The folder of the rows without database.",
            standard: "understudy-backend in $XDG_DATA_HOME or ~/.local/share",
            example: "/var/lib/understudy-backend"),
        read: data.read)

    static let flavour = Setting<BackendFlavour>(
        name: "flavour",
        allowed: "one of \(BackendFlavour.allCases.map(\.rawValue).joined(separator: ", "))",
        about: SettingText(
            "Which server it answers like.", standard: "2", example: "2")
    ) { BackendFlavour(rawValue: $0) }

    static let integerIDs = named(
        "integer-ids", "A table whose ids are integers that it assigns.", example: "numbers")
    static let hardDelete = named(
        "hard-delete", "A table that deletes for good.", example: "drafts")
    static let signIn = named(
        "sign-in", "A table that needs a sign-in, with items for each user.", example: "todos")

    static let pageRows = wholeNumber(
        "page-rows", in: 1...100_000,
        about: SettingText(
            "Rows in one answer.", standard: "as the server of the flavour", example: "1000"))

    static let requestsPerSecond = wholeNumber(
        "requests-per-second", in: 1...1_000_000,
        about: SettingText(
            "How many requests a second are taken; others are told when to return.",
            standard: "all", example: "2000"))

    static let drain = wholeNumber(
        "drain", in: 0...Limits.drainSecondsMax,
        about: SettingText(
            "Seconds from SIGTERM to the stop. In them requests are answered, and readyz is 503.",
            standard: "5 with access-file, otherwise 0", example: "10"))

    static let accessFile = path(
        "access-file",
        about: SettingText(
            "The JSON file that says whose tokens are good.",
            standard: "none; every token is accepted",
            example: "/etc/understudy/access.json"))

    static let adminTokenFile = path(
        "admin-token-file",
        about: SettingText(
            "The file with the administrator's token in its first line.",
            standard: "none; access-file needs it", example: "/etc/understudy/admin.token"))

    static let certificate = path(
        "tls-certificate",
        about: SettingText(
            "The certificate to show clients with those above it, a PEM file.",
            standard: "none; it speaks plain HTTP", example: "/etc/understudy/site.pem"))

    static let certificateKey = path(
        "tls-key",
        about: SettingText(
            "The key of tls-certificate, a PEM file that is not encrypted.",
            standard: "none; tls-certificate needs it", example: "/etc/understudy/site.key"))

    static let publicAddress = Setting<PublicAddress>(
        name: "public-address",
        allowed: "an http or https address without a path, such as https://site.example",
        about: SettingText(
            "Where clients find it, if something in front of it speaks TLS: links begin so.",
            standard: "what the request addressed", example: "https://site.example")
    ) { PublicAddress($0) }

    static let servePlainHTTP = yesOrNo(
        allowPlainHTTP.name,
        about: SettingText(
            "Whether it listens without TLS where other machines reach it.",
            standard: "no", example: "yes"))

    static let defaultAccess = Setting<AccessLevel>(
        name: "default-access",
        allowed: "one of \(AccessLevel.allCases.map(\.rawValue).joined(separator: ", "))",
        about: SettingText(
            "Who may do what table says nothing about. disabled: no other tables come either.",
            standard: "authenticated with access-file", example: "authenticated")
    ) { AccessLevel(rawValue: $0) }

    private static func named(
        _ name: String, _ summary: String, example: String
    ) -> Setting<TableName> {
        Setting<TableName>(
            name: name, allowed: "the name of a table: letters, digits and _, not a digit first",
            about: SettingText(summary, standard: "none", example: example, isList: true)
        ) { TableName($0) }
    }
}

// The kinds of values that several settings have. Each function makes a setting of its kind.
extension Settings {
    /// A setting that is on or off.
    static func yesOrNo(_ name: String, about: SettingText) -> Setting<Bool> {
        Setting<Bool>(name: name, allowed: BooleanText.allowed, about: about) {
            BooleanText.value($0)
        }
    }

    /// A setting with a path; a relative one begins at the current folder.
    static func path(
        _ name: String, allowed: String = "the path of a file", about: SettingText
    ) -> Setting<String> {
        Setting<String>(name: name, allowed: allowed, about: about) {
            $0.isEmpty ? nil : absolute($0)
        }
    }

    /// A setting with a whole number within bounds.
    static func wholeNumber(
        _ name: String, in bounds: ClosedRange<Int>, about: SettingText
    ) -> Setting<Int> {
        Setting<Int>(
            name: name,
            allowed: "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
            about: about
        ) { text in
            Int(text).flatMap { bounds.contains($0) ? $0 : nil }
        }
    }

    /// A setting with a time such as `12h` or `30d`, in seconds.
    static func time(
        _ name: String, hours: ClosedRange<Int64>, about: SettingText
    ) -> Setting<Int64> {
        Setting<Int64>(
            name: name,
            allowed: "hours or days from \(hours.lowerBound)h to \(hours.upperBound / 24)d, "
                + "such as 12h or 30d",
            about: about
        ) { text in
            let units: [Character: Int64] = ["h": 1, "d": 24]
            guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
                // Before the multiplication, which a large number would overflow.
                (0...hours.upperBound).contains(number), hours.contains(number * unit)
            else { return nil }
            return number * unit * 3600
        }
    }

    /// A setting with a size such as `500M` or `4G`, in bytes.
    static func bytes(_ name: String, from least: Int, about: SettingText) -> Setting<Int> {
        Setting<Int>(
            name: name, allowed: "a size from \(least >> 20)M up, such as 500M or 4G", about: about
        ) { text in
            let units: [Character: Int] = ["M": 1 << 20, "G": 1 << 30]
            guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
                (1...1_000_000).contains(number), number * unit >= least
            else { return nil }
            return number * unit
        }
    }
}
