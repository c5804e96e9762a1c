import HTTPServer

/// Where this program is found.
struct ListeningAddresses: Sendable, Hashable {
    /// Where clients find `/tables`.
    let clients: ListenAddress
    /// Where the dashboard is; the same unless `--dashboard-listen` says otherwise.
    let dashboard: ListenAddress

    /// The name that a caller used for this machine, with the clients' port.
    func clientsAuthority(_ called: String) -> String { Self.authority(called, clients) }

    /// The name that a caller used for this machine, with the dashboard's port.
    func dashboardAuthority(_ called: String) -> String { Self.authority(called, dashboard) }

    /// Replaces the port behind a name. A name without one, as of a Unix socket, is no address.
    private static func authority(_ called: String, _ address: ListenAddress) -> String {
        guard let colon = called.utf8.lastIndex(of: UInt8(ascii: ":")),
            UInt16(called[called.utf8.index(after: colon)...]) != nil
        else { return address.description }
        return "\(called[..<colon]):\(address.port)"
    }
}
