/// What may start a sync; each can be switched off.
public enum Trigger: String, Sendable, Hashable, CaseIterable {
    /// A person or client asks.
    case manual
    /// Local writes, after a moment of quiet.
    case afterWrites
    /// Time.
    case interval
    /// The backend can be reached again.
    case reconnect
    /// A client reads a table that is read through.
    case read
}
