/// What is done to all operations that match a filter.
public enum BulkAction: String, Sendable, Hashable { case retry, discard }
