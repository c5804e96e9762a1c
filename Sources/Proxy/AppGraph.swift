import ServiceLifecycle
import SyncCore

/// A proxy without its sockets: what answers requests, and what runs behind it.
struct AppGraph: Sendable {
    let routes: Routes
    let tenants: TenantRegistry
    let access: OperatorAccess
    let work: BackgroundWork
    let feed: EventFeed

    /// What runs behind the routes.
    var services: [any Service] {
        [LoopService { await work.run() }, LoopService { await tenants.run() }, LoopService { await beat() }]
    }

    private func beat() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(Limits.eventHeartbeatSeconds))
            feed.beat()
        }
    }
}
