import HTTPMessage
import HTTPTypes

extension Guard {
    /// The role of the port that a connection was accepted on.
    enum PortRole: Sendable, Hashable {
        /// The one port for clients and dashboard, or the Unix socket, which no browser opens.
        case shared
        /// The clients' port, if the dashboard has its own.
        case clients
        /// The dashboard's own port.
        case dashboard
    }

    /// The role of the port that a connection was accepted on.
    func portRole(_ connection: Connection) -> PortRole {
        guard let port = currentRules.dashboardPort,
            connection.localAddress != Connection.unixSocket
        else {
            return .shared
        }
        return connection.localPort == port ? .dashboard : .clients
    }

    /// Separates the two ports, so that the backend's pages and the dashboard never share an origin.
    /// 1. The clients' port has no files of the dashboard and no sign-in: `/-/` redirects to the other port.
    ///    Health, metrics and the operator API with its token are at both ports.
    /// 2. At the dashboard's port nothing is passed through to the backend.
    /// - Returns: nil for a request at the right port.
    func portDecision(_ request: Request, _ space: Space, _ path: TargetPath) -> GuardDecision? {
        switch (portRole(request.connection), space) {
        case (.clients, .operatorAPI(.page)):
            let isIndex = path.segments == ["-"] || path.segments == ["-", ""]
            return isIndex ? .answer(dashboardRedirect(request)) : .refuse(wrongPort(space), space)
        case (.clients, .operatorAPI(.signIn)): return .refuse(wrongPort(space), space)
        case (.dashboard, .other) where !path.segments.isEmpty:
            return .refuse(wrongPort(space), space)
        case (.shared, _), (.clients, _), (.dashboard, _): return nil
        }
    }

    private func dashboardRedirect(_ request: Request) -> Response {
        let called = request.head.authority ?? ""
        let name = called.utf8.lastIndex(of: UInt8(ascii: ":")).map { called[..<$0] } ?? called[...]
        return Response(
            status: .found,
            headerFields: OperatorHeaders.added(to: [
                .location: "http://\(name):\(currentRules.dashboardPort ?? 0)/-/",
                .cacheControl: "no-store",
            ]))
    }

    private func wrongPort(_ space: Space) -> Refusal {
        Refusal(
            .port,
            space == .other
                ? "At the dashboard's port nothing is passed on to the backend: use the port of --listen."
                : "The dashboard has a port of its own: use the port of --dashboard-listen.")
    }
}
