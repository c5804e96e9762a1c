import SyncCore

/// When changes travel.
enum SyncChoice: String, Sendable, Hashable, CaseIterable {
    /// By themselves: after writes, every minute, when the backend is back.
    case auto
    /// Only when a sync is asked for.
    case manual

    /// What makes changes travel.
    var triggers: Set<Trigger> {
        switch self {
        case .auto: Set(Trigger.allCases)
        case .manual: [.manual]
        }
    }
}
