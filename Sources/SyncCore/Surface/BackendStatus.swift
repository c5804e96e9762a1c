public import TablesProtocol

/// What is known of the backend.
public struct BackendStatus: Sendable, Hashable {
    /// Whether and how the backend answers.
    public enum State: String, Sendable, Hashable, CaseIterable {
        case online, offline, degraded, signedOut, portal, notTables
    }

    /// Its address.
    public var url: String
    /// Whether and how it answers.
    public var state: State
    /// Why, in plain words.
    public var reason: String
    /// Since when.
    public var since: Instant
    /// When it is tried again; nil when nothing waits for that.
    public var nextTry: Instant?

    /// Makes a status from its parts.
    public init(
        url: String, state: State, reason: String, since: Instant, nextTry: Instant? = nil
    ) {
        self.url = url
        self.state = state
        self.reason = reason
        self.since = since
        self.nextTry = nextTry
    }
}
