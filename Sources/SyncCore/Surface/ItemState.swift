/// How an item stands to the backend.
public enum ItemState: String, Sendable, Hashable, CaseIterable {
    case synced, pending, conflict, quarantined
}
