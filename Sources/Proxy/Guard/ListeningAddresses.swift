/// Where this program is found, as host and port.
struct ListeningAddresses: Sendable, Hashable {
    /// Where clients find `/tables`.
    let clients: String
    /// Where the dashboard is; the same unless `--dashboard-listen` says otherwise.
    let dashboard: String

    /// The name that a caller used for this machine, with the clients' port.
    func clientsAuthority(_ called: String) -> String { Self.authority(called, clients) }

    /// The name that a caller used for this machine, with the dashboard's port.
    func dashboardAuthority(_ called: String) -> String { Self.authority(called, dashboard) }

    /// Replaces the port behind a name. A name without one, as of a Unix socket, is no address.
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
