/// Who decides a conflict.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
    /// A person.
    case ask
    /// The merge where columns are disjoint, else mine over the backend's.
    case merge
    /// Mine.
    case client
    /// The backend's.
    case server
}
