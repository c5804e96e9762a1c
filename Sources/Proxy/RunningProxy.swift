import HTTPClient
import HTTPServer
import Logging
import ServiceLifecycle
import SyncCore

/// A proxy that listens, with everything that runs behind it and must end with it.
struct RunningProxy: Sendable {
    /// Where it listens, as in a URL.
    let address: String
    let folder: DataFolder
    let lock: FolderLock
    let homes: Homes
    let access: OperatorAccess
    let work: BackgroundWork
    let feed: EventFeed
    let server: Server
    let transport: CurlTransport

    /// A link that signs a browser in, once.
    func makeLink() -> String { OperatorAPI.link(access.makeLink().value, host: address) }

    /// What runs, in the order of starting; it is stopped from the last to the first, so that no
    /// request comes in any more when the engines end.
    var services: [any Service] {
        let engines: [any Service] = homes.all.map { home in
            Loop { await home.engine.run() }
        }
        return [Loop { await work.run() }] + engines + [
            Loop { await beat() },
            Closing {
                feed.closeAll()
                await server.stop()
            },
        ]
    }

    private func beat() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(Limits.eventHeartbeatSeconds))
            feed.beat()
        }
    }

    /// Puts everything away after the services ended.
    func close() async {
        await transport.stop()
        for home in homes.all { try? home.store.close() }
        folder.removeAddress()
        lock.release()
    }
}
