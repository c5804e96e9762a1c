/// What the guard compares requests with; all of it exact strings.
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

    /// What the operator should think about.
    /// - Parameter loginUsers: how many people can log in to this machine.
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
