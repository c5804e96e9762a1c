import Synchronization

/// The rules of the guard, compared as exact strings.
package struct GuardRules: Sendable, Hashable {
    /// Further values of Host (`10.0.2.2:8080`) beside the loopback names with the local port.
    package var allowedHosts: Set<String>
    /// Origins of other pages that may call `/tables` and what is passed through.
    package var allowedOrigins: Set<String>
    /// Which clients may call `/tables` at its plain address.
    package var tablesAccess: TablesAccess

    /// Makes rules; without arguments only this machine's own pages and programs may call.
    package init(
        allowedHosts: Set<String> = [], allowedOrigins: Set<String> = [],
        tablesAccess: TablesAccess = .open
    ) {
        self.allowedHosts = allowedHosts
        self.allowedOrigins = allowedOrigins
        self.tablesAccess = tablesAccess
    }

    /// Whether `host` names this server on `port`.
    func allowsHost(_ host: String, port: UInt16) -> Bool {
        if allowedHosts.contains(host) { return true }
        if port == 80, Self.loopbackNames.contains(host) { return true }
        guard let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")) else { return false }
        return host[host.utf8.index(after: colon)...] == String(port)
            && Self.loopbackNames.contains { $0 == host[..<colon] }
    }

    /// Warnings for the operator about these rules.
    /// - Parameter loginUsers: the number of people who can log in to this machine.
    func warnings(loginUsers: Int) -> [String] {
        let null =
            allowedOrigins.contains("null")
            ? "--allow-origin null lets every page in a sandbox or a file call /tables here, of "
                + "whatever site it is, and the backend's own pages too. Name the page's origin "
                + "instead where it has one." : nil
        return [tablesAccess.warning(loginUsers: loginUsers), null].compactMap { $0 }
    }

    private static let loopbackNames = ["127.0.0.1", "localhost", "[::1]"]
}

/// The guard's rules now. A reload of the settings replaces them while requests are checked. Each request is
/// checked by the old rules or by the new ones.
final class CurrentRules: Sendable {
    private let rules: WorkerCopies<GuardRules>
    private let listening = Mutex<ListeningAddresses?>(nil)
    /// The dashboard's own port; nil when it shares the clients' port. It changes only at a start.
    let dashboardPort: UInt16?

    /// Makes it with the rules of the start.
    init(_ rules: GuardRules, dashboardPort: UInt16? = nil) {
        self.rules = WorkerCopies(rules)
        self.dashboardPort = dashboardPort
    }

    /// The rules now.
    /// - Parameter worker: the calling server worker; any number for another caller.
    func snapshot(worker: Int = 0) -> GuardRules { rules.value(of: worker) }

    /// The addresses that this program listens on; nil while it does not listen.
    var addresses: ListeningAddresses? { listening.withLock { $0 } }

    func setAddresses(_ addresses: ListeningAddresses) { listening.withLock { $0 = addresses } }

    /// Replaces the rules from the next request on.
    func replace(with new: GuardRules) { rules.replace(with: new) }
}

/// Which clients may call `/tables` at its plain address.
package enum TablesAccess: String, Sendable, Hashable, CaseIterable {
    /// Every program of this machine.
    case open
    /// No program: only capability addresses, the Unix socket and callers that are signed in as the
    /// operator.
    case capability
}

extension TablesAccess {
    /// The warning when other people of this machine could read the rows; nil without a reason for one.
    /// - Parameter loginUsers: the number of people who can log in to this machine.
    func warning(loginUsers: Int) -> String? {
        guard self == .open, loginUsers > 1 else { return nil }
        return "\(loginUsers) people can log in to this machine, and each can read and write "
            + "/tables here. Give every client an address of its own with `understudy access "
            + "add NAME` and start with --tables-access capability."
    }
}

/// The addresses that this program listens on, each as host and port.
struct ListeningAddresses: Sendable, Hashable {
    /// The address of `/tables`.
    let clients: String
    /// The address of the dashboard; the same without `--dashboard-listen`.
    let dashboard: String

    /// The host that a caller used for this machine, with the clients' port.
    func clientsAuthority(_ called: String) -> String { Self.authority(called, clients) }

    /// The host that a caller used for this machine, with the dashboard's port.
    func dashboardAuthority(_ called: String) -> String { Self.authority(called, dashboard) }

    /// Replaces the port of `called`. For text without a port, such as that of a Unix socket, `address`.
    private static func authority(_ called: String, _ address: String) -> String {
        guard let name = split(called)?.name, let port = split(address)?.port else {
            return address
        }
        return "\(name):\(port)"
    }

    private static func split(_ authority: String) -> (name: Substring, port: UInt16)? {
        guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = UInt16(authority[authority.utf8.index(after: colon)...])
        else { return nil }
        return (authority[..<colon], port)
    }
}
