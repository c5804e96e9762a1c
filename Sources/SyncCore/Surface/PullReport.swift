/// What a pull of one table did.
public struct PullReport: Sendable, Hashable {
    /// The table.
    public var table: String
    /// Requests made.
    public var requests = 0
    /// Rows in the answers.
    public var received = 0
    /// Rows that the backend announced; nil when it did not, and for a run of an earlier process.
    public var total: Int?
    /// Rows that changed the store.
    public var applied = 0
    /// Rows with local changes, which keep those; the backend's row is kept beside.
    public var skippedDirty = 0
    /// Rows that were removed.
    public var deleted = 0
    /// Why it stopped early, in plain words.
    public var error: String?

    /// Nothing yet.
    public init(table: String) { self.table = table }
}
