import HTTPMessage
import HTTPServer
import HTTPTypes
import Proxy

// The check of the addresses to listen on.
extension Doctor {
    func listeningFindings() async -> [Finding] {
        let check = "listening"
        if isRunning {
            let address = (try? folder.address()) ?? nil
            return [.ok(check, "Understudy runs and answers at \(address ?? "its address").")]
        }
        if let silence {
            return [
                .problem(check, silence, "Correct that, then look again with: understudy doctor")
            ]
        }
        guard
            let address = value(Settings.listen)
                ?? (try? ListenAddress(host: "127.0.0.1", port: 8080))
        else { return [] }
        let dashboard = value(Settings.dashboardListen)
        do {
            try await Server.tryListening(address)
            if let dashboard { return await dashboardFindings(address, dashboard) }
            return [.ok(check, "Understudy does not run; \(address) is free.")]
        } catch {
            return [
                .problem(
                    check, "Understudy does not run, and could not: \(error)",
                    "See what listens there with: ss -ltnp | grep :\(address.port)")
            ]
        }
    }
}

extension Doctor {
    /// The same for the dashboard's own address, if the clients' address is free.
    fileprivate func dashboardFindings(
        _ clients: ListenAddress, _ dashboard: ListenAddress
    ) async -> [Finding] {
        let check = "listening"
        if dashboard.port == clients.port {
            return [
                .problem(
                    check, "listen and dashboard-listen have the same port, \(clients.port).",
                    "Give the dashboard another one.")
            ]
        }
        do {
            try await Server.tryListening(dashboard)
            return [
                .ok(
                    check,
                    "Understudy does not run; \(clients) and \(dashboard) for the dashboard are free."
                )
            ]
        } catch {
            return [
                .problem(
                    check, "Understudy does not run, and its dashboard could not: \(error)",
                    "See what listens there with: ss -ltnp | grep :\(dashboard.port)")
            ]
        }
    }
}

extension Server {
    /// Listens on an address and stops, to check that it is possible.
    fileprivate static func tryListening(
        _ address: ListenAddress
    ) async throws(StartFailure) {
        let server = Server(ServerConfiguration(addresses: [address]), handler: RefusingHandler())
        _ = try server.start()
        await server.stop()
    }

    private struct RefusingHandler: HTTPHandler, RequestHandler {
        func admit(_ request: Request) -> Admission {
            .refuse(Response(status: .serviceUnavailable))
        }

        func handle(_ request: Request) -> Answer {
            .now(Response(status: .serviceUnavailable))
        }
    }
}
