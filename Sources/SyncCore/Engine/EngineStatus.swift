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
    /// Whether anything was asked of it since the start, or since its address was changed.
    public var isAsked: Bool

    /// Makes a status from its parts.
    public init(
        url: String, state: State, reason: String, since: Instant, nextTry: Instant? = nil,
        isAsked: Bool = true
    ) {
        self.url = url
        self.state = state
        self.reason = reason
        self.since = since
        self.nextTry = nextTry
        self.isAsked = isAsked
    }
}

/// All that the dashboard's first line needs to know of one identity.
public struct EngineStatus: Sendable, Hashable {
    /// Whether the backend may be used.
    public enum Mode: Sendable, Hashable {
        case online
        /// Switched off by a person, until then or until switched on.
        case offline(until: Instant?)
    }

    /// Whose store and engine.
    public var identity: String
    /// What is known of the backend.
    public var backend: BackendStatus
    /// Whether the backend may be used.
    public var mode: Mode
    /// What is open.
    public var queue: QueueCounts
    /// The account of every write.
    public var ledger: Ledger
    /// Every table.
    public var tables: [TableStatus]
    /// When a sync last completed.
    public var lastSync: Instant?
    /// When the next is due.
    public var nextSync: Instant?
    /// What a person should know, in plain words.
    public var warnings: [String]
    /// How often syncing stood still and was started again, since the start.
    public var stalls: Int

    /// Makes a status from its parts.
    public init(
        identity: String, backend: BackendStatus, mode: Mode, queue: QueueCounts, ledger: Ledger,
        tables: [TableStatus], lastSync: Instant?, nextSync: Instant?, warnings: [String],
        stalls: Int = 0
    ) {
        self.identity = identity
        self.backend = backend
        self.mode = mode
        self.queue = queue
        self.ledger = ledger
        self.tables = tables
        self.lastSync = lastSync
        self.nextSync = nextSync
        self.warnings = warnings
        self.stalls = stalls
    }
}
