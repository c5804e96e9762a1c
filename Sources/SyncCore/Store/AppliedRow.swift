/// What a row of the backend did to the store.
enum AppliedRow: Sendable, Hashable {
    case inserted, updated, deleted
    /// The store had it so already.
    case unchanged
    /// The item has local changes, which stay; the row is kept beside them.
    case shadowed
    /// A push outcome was committed after the request began, so the row may be older than ours.
    case skipped
}
