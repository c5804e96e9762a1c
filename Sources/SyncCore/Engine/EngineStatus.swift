public import TablesProtocol

public enum BackendState: String, Codable, Sendable, Hashable, CaseIterable {
    case online, offline, degraded, signedOut, portal, notTables
}

/// The backend, as the engine of one store knows it.
public struct BackendStatus: Codable, Sendable, Hashable {
    public var url: String
    public var state: BackendState
    /// One sentence for a person.
    public var reason: String
    public var since: Instant
    public var nextTry: Instant?
    /// Whether anything was asked of it since the start, or since it was accepted.
    public var isAsked = true
    /// The request that showed that it, or the only table that was asked for, cannot be used; null while
    /// it answers.
    public var failedRequest: FailedRequest?
    /// Since when its stream of changes is followed, so that changes of others arrive at once; null while it is
    /// not.
    public var changesFollowedSince: Instant?

    /// The beginning of ``reason`` where its certificate is not trusted.
    static let untrusted = "The backend's certificate is not trusted "
}

/// The status of one identity's store and engine.
public struct EngineStatus: Sendable, Hashable {
    /// Whether the backend may be used.
    public enum Mode: Sendable, Hashable {
        case online
        /// Switched off by a person until this time; nil means until it is switched on.
        case offline(until: Instant?)
    }

    public var identity: String
    public var backend: BackendStatus
    /// Whether the backend may be used.
    public var mode: Mode
    /// The numbers of open operations.
    public var queue: QueueCounts
    /// The counts of every accepted write.
    public var ledger: Ledger
    public var tables: [TableStatus]
    /// When the last sync since the start ended that pulled every table.
    public var lastSync: Instant?
    public var nextSync: Instant?
    /// Warnings for a person, in plain words.
    public var warnings: [String]
    /// How often the sync loop stalled and was restarted since the start.
    public var stalls = 0
}
