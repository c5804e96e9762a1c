/// What the ids of a table are.
public enum IDKind: String, Sendable, Hashable, CaseIterable {
    /// Text, made by the client or by the server.
    case string
    /// A positive integer assigned by the server; first generation tables only.
    case integer
}
