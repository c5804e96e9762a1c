/// Who did something.
public enum Actor: String, Sendable, Hashable, CaseIterable {
    /// An app through `/tables`.
    case client
    /// A person through the dashboard or a command.
    case person
    /// The engine: an answer of the backend, or a policy.
    case engine
}
