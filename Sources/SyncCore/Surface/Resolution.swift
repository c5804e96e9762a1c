public import TablesProtocol

/// How a person settles a conflict.
public enum Resolution: Sendable, Hashable {
    /// Send mine over the backend's row.
    case mine
    /// Take the backend's row and give mine up.
    case server
    /// Send the proposed merge, as ``ConflictDetail/proposed`` shows it.
    case merged
    /// Take the backend's row, and insert mine as a new item.
    case both
    /// Send these columns, composed field by field or edited.
    case edited(Columns)
}
