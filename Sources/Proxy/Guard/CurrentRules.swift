import Synchronization

/// The guard's rules as they hold now: a reload of the settings replaces them while requests are
/// judged, each by the old ones or the new ones.
final class CurrentRules: Sendable {
    private let rules: Mutex<GuardRules>
    private let listening = Mutex<ListeningAddresses?>(nil)
    /// The port that the dashboard alone has; nil where it shares the clients'. It holds until the next
    /// start.
    let dashboardPort: UInt16?

    /// Holds the rules of the start.
    init(_ rules: GuardRules, dashboardPort: UInt16? = nil) {
        self.rules = Mutex(rules)
        self.dashboardPort = dashboardPort
    }

    /// What holds now.
    var snapshot: GuardRules { rules.withLock { $0 } }

    /// Where this program is found; nil while it does not listen.
    var addresses: ListeningAddresses? { listening.withLock { $0 } }

    /// Records where this program is found.
    func listens(at addresses: ListeningAddresses) { listening.withLock { $0 = addresses } }

    /// Lets others hold from the next request on.
    func replace(with new: GuardRules) { rules.withLock { $0 = new } }
}
