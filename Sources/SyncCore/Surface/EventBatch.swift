/// What a reader of events gets.
public enum EventBatch: Sendable, Hashable {
    /// The events after the one it named, oldest first.
    case events([Event])
    /// The one it named is too old or not of this store: read everything again, go on from `latest`.
    case reset(latest: Int64)
}
