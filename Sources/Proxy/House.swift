import ServiceLifecycle
import SyncCore

/// A proxy without its sockets: what answers requests, and what runs behind it.
struct House: Sendable {
    let routes: Routes
    let homes: Homes
    let access: OperatorAccess
    let work: BackgroundWork
    let feed: EventFeed

    /// What runs behind the routes.
    var services: [any Service] {
        [Loop { await work.run() }, Loop { await homes.run() }, Loop { await beat() }]
    }

    private func beat() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(Limits.eventHeartbeatSeconds))
            feed.beat()
        }
    }
}
