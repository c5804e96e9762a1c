import HTTPMessage
import HTTPTypes

extension Guard {
    /// Where a connection was accepted.
    enum PortRole: Sendable, Hashable {
        /// The one port for clients and dashboard, or the Unix socket, which no browser opens.
        case shared
        /// The clients' port, where the dashboard has its own.
        case clients
        /// The dashboard's own port.
        case dashboard
    }

    /// Where a connection was accepted.
    func portRole(_ connection: Connection) -> PortRole {
        guard let port = currentRules.dashboardPort,
            connection.localAddress != Connection.unixSocket
        else {
            return .shared
        }
        return connection.localPort == port ? .dashboard : .clients
    }

    /// Keeps two ports apart, so that the backend's pages and the dashboard never share an origin; nil
    /// where the request may go on.
    /// 1. At the clients' port are no files of the dashboard and no sign-in: `/-/` leads to the other
    ///    port. Health, metrics and the operator API with its token are at both.
    /// 2. At the dashboard's port nothing is passed on to the backend.
    func portDecision(_ request: Request, _ space: Space, _ path: TargetPath) -> GuardDecision? {
        switch (portRole(request.connection), space) {
        case (.clients, .operatorAPI(.page)):
            let isIndex = path.segments == ["-"] || path.segments == ["-", ""]
            return isIndex ? .answer(toDashboard(request)) : .refuse(wrongPort(space), space)
        case (.clients, .operatorAPI(.signIn)): return .refuse(wrongPort(space), space)
        case (.dashboard, .other) where !path.segments.isEmpty:
            return .refuse(wrongPort(space), space)
        case (.shared, _), (.clients, _), (.dashboard, _): return nil
        }
    }

    private func toDashboard(_ request: Request) -> Response {
        let called = request.head.authority ?? ""
        let name = called.utf8.lastIndex(of: UInt8(ascii: ":")).map { called[..<$0] } ?? called[...]
        return Response(
            status: .found,
            headerFields: OperatorHeaders.closing([
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
