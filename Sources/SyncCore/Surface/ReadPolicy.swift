/// How reads of a table are answered.
public enum ReadPolicy: String, Sendable, Hashable, CaseIterable {
    /// From the store.
    case local
    /// From the store, which is then refreshed behind.
    case revalidate
    /// From the backend; from the store when it cannot be reached.
    case remoteFirst = "remote-first"
}
