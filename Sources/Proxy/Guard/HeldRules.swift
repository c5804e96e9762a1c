import Synchronization

/// The guard's rules as they hold now: a reload of the settings replaces them while requests are
/// judged, each by the old ones or the new ones.
final class HeldRules: Sendable {
    private let rules: Mutex<GuardRules>

    /// Holds the rules of the start.
    init(_ rules: GuardRules) { self.rules = Mutex(rules) }

    /// What holds now.
    var now: GuardRules { rules.withLock { $0 } }

    /// Lets others hold from the next request on.
    func replace(with new: GuardRules) { rules.withLock { $0 = new } }
}
