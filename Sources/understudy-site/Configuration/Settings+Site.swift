import Program

// The settings of a site alone.
extension Settings {
    /// Read by libpq alone, and never shown: it may hold a password.
    static let database = Setting<String>(
        name: "database", allowed: "a URL",
        about: SettingText(
            "PostgreSQL's URL, with all hosts of which one may take over. All nodes have the same.",
            standard: "a file of SQLite in the data folder",
            example: "postgresql://understudy@db1,db2/understudy")
    ) { $0 }

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
}
