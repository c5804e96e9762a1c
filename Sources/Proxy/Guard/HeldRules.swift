import Synchronization

/// The guard's rules as they hold now: a reload of the settings replaces them while requests are
/// judged, each by the old ones or the new ones.
final class HeldRules: Sendable {
    private let rules: Mutex<GuardRules>
    private let replacements = Atomic<Int>(0)

    /// Holds the rules of the start.
    init(_ rules: GuardRules) { self.rules = Mutex(rules) }

    /// What holds now.
    var now: GuardRules { rules.withLock { $0 } }

    /// Which rules hold now: another number for each that held. What was let through under one number
    /// has to be judged again under the next.
    var edition: Int { replacements.load(ordering: .acquiring) }

    /// Lets others hold from the next request on.
    func replace(with new: GuardRules) {
        rules.withLock { $0 = new }
        replacements.add(1, ordering: .acquiringAndReleasing)
    }
}
