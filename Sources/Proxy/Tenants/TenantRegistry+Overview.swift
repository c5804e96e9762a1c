import SyncCore
import Synchronization

// Every identity with the state of its store, for the operator's list.
extension TenantRegistry {
    /// An identity that has a store.
    struct Known: Sendable {
        /// Whether the store is open, and what is known of it.
        enum State: Sendable {
            case open(Tenant)
            case closed(StoreSummary)
            /// Closed, and not looked at since the start.
            case unexamined
            /// Closed, and not opened when that was last tried.
            case failed
        }

        let identity: String
        let state: State

        /// The state in the operator API and in the metrics.
        var word: String {
            switch state {
            case .open: "open"
            case .closed: "closed"
            case .unexamined: "unexamined"
            case .failed: "failed"
            }
        }
    }

    /// Every identity, `anonymous` first, the others in the order of their keys.
    var overview: [Known] {
        let stores = stores.withLock { $0 }
        return identities.map { identity in
            let state: Known.State
            if identity == anonymous.identity {
                state = .open(anonymous)
            } else if let tenant = tenant(identity, isInspection: true) {
                state = .open(tenant)
            } else if stores.failed.contains(identity) {
                state = .failed
            } else if case .known(let entry) = stores.closed[identity] {
                state = .closed(entry.summary)
            } else {
                state = .unexamined
            }
            return Known(identity: identity, state: state)
        }
    }
}
