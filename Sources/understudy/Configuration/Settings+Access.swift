import HTTPServer
import Proxy
import SyncCore
import TablesProtocol

// Access, and how the backend is reached.
extension Settings {
    static let socket = path(
        "socket",
        about: SettingText(
            "A Unix socket to listen on as well, for this user alone.",
            standard: "none", example: "/run/user/1000/understudy.sock"))

    static let dashboardListen = Setting<ListenAddress>(
        name: "dashboard-listen", allowed: "a loopback address with a port, such as 127.0.0.1:8090",
        about: SettingText(
            "Where the dashboard is, apart from clients, so that the backend's pages at the "
                + "clients' port may have that origin for themselves.",
            standard: "where clients find Understudy", example: "127.0.0.1:8090")
    ) { text in loopback(text).flatMap { $0.port == 0 ? nil : $0 } }

    static let tablesAccess = Setting<TablesAccess>(
        name: "tables-access",
        allowed: TablesAccess.allCases.map(\.rawValue).joined(separator: " or "),
        about: SettingText(
            "Whether every program of this machine may reach /tables, or only clients that "
                + "have an address of their own.",
            standard: "open", example: "open")
    ) { TablesAccess(rawValue: $0) }

    static let forwardHeader = Setting<ForwardableName>(
        name: "forward-header", allowed: ForwardableName.allowed,
        about: SettingText(
            "A header field of clients that is kept with a write and sent on with it.",
            standard: "none", example: "X-Tenant", isList: true)
    ) { ForwardableName($0) }

    static let backendCA = path(
        "backend-ca",
        about: SettingText(
            "The authorities to trust for the backend, a PEM file.",
            standard: "the system's", example: "/etc/understudy/authorities.pem"))
    static let backendCertificate = path(
        "backend-cert",
        about: SettingText(
            "The certificate to show the backend, a PEM file.",
            standard: "none", example: "/etc/understudy/client.pem"))
    static let backendKey = path(
        "backend-key",
        about: SettingText(
            "The key to backend-cert, a PEM file.",
            standard: "none", example: "/etc/understudy/client-key.pem"))

    static let backendProxy = Setting<String>(
        name: "backend-proxy",
        allowed:
            "the address of a proxy, such as http://10.0.0.1:3128 or http://user:password@10.0.0.1:3128 "
            + "(in a password, write / as %2F, ? as %3F, # as %23)",
        about: SettingText(
            "The proxy on the way to the backend.",
            standard: "none", example: "http://10.0.0.1:3128")
    ) { isProxy($0) ? $0 : nil }

    static let allowPlainHTTP = yesOrNo(
        "allow-plain-http",
        about: SettingText(
            "Whether rows and tokens may travel in the clear to a backend on another machine.",
            standard: "no", example: "no"))

    static let rememberSignIn = yesOrNo(
        "remember-sign-in",
        about: SettingText(
            "Whether users' tokens are kept, sealed, so that their queues go on after a restart.",
            standard: "no; they are in memory only", example: "no"))

    static let offlineGrace = time(
        "offline-grace", hours: 0...Limits.offlineGraceDaysMax * 24,
        about: SettingText(
            "How long a user's token is taken that the backend cannot confirm, since it is away.",
            standard: "30d", example: "30d"))

    static let diskBudget = bytes(
        "disk-budget", from: Limits.diskBudgetBytesMin,
        about: SettingText(
            "How large the store of each identity may grow.",
            standard: "as large as the disk", example: "4G"))

    /// Whether a text is the address of a proxy. Before an `@` there is no slash, question mark, hash or
    /// quotation mark: at these ``Redaction`` takes the password to be over.
    private static func isProxy(_ text: String) -> Bool {
        ["http://", "https://", "socks5h://"].contains { scheme in
            let rest = text.dropFirst(scheme.count)
            let user = rest.lastIndex(of: "@").map { rest[..<$0] } ?? ""
            return text.hasPrefix(scheme) && !rest.isEmpty
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                && !user.contains { "/?#\"'".contains($0) }
        }
    }
}
