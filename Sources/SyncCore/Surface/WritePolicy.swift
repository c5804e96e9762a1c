/// When writes to a table are answered.
public enum WritePolicy: String, Sendable, Hashable, CaseIterable {
    /// Once they are durable here.
    case local
    /// Once the backend has judged them, or after a bounded wait.
    case writeThrough = "write-through"
}
