/// When changes travel.
enum SyncChoice: String, Sendable, Hashable, CaseIterable {
    /// By themselves: after writes, every minute, when the backend is back.
    case auto
    /// Only when somebody says so.
    case manual
}
