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

    /// Warnings about stores with open operations that were bound to another backend, and whose users have
    /// not signed in there.
    func waitingWarnings() async -> [String] {
        let waiting = owners.waiting
        if waiting.isEmpty { return [] }
        // The number is nil of a store that was not looked at.
        var found: [(store: String, open: Int?)] = []
        for known in overview where waiting.contains(known.identity) {
            let open: Int?
            switch known.state {
            case .open(let tenant): open = (try? await tenant.engine.status())?.queue.open
            case .closed(let summary): open = summary.ledger.queue.open
            case .unexamined, .failed: open = nil
            }
            if open != 0 { found.append((known.identity, open)) }
        }
        guard let first = found.first else { return [] }
        let all = found.reduce(0) { $0 + ($1.open ?? 0) }
        let names = found.prefix(Limits.namedStores).map { one in
            "\(one.store) (\(one.open.map { "\($0)" } ?? "not looked at"))"
        }
        let more = found.count > names.count ? " and others" : ""
        let changes = all > 0 ? "\(all) changes wait" : "Changes may wait"
        return [
            "\(changes) until their users sign in at this backend: "
                + "\(names.joined(separator: ", "))\(more). A user who gets another identity there "
                + "needs your word: start once with --rebind --identity \(first.store)=USER, where USER "
                + "is the user's id at this backend, or the identity that the user already has here."
        ]
    }
}
