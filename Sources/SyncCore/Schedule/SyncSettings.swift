public import TablesProtocol

/// The operator's settings of syncing.
public struct SyncSettings: Sendable, Hashable {
    /// The events that start a sync. With ``Trigger/manual`` alone nothing happens without a request.
    public var triggers: Set<Trigger>
    /// The time between two syncs of the interval trigger.
    public var interval: Duration
    /// The time without writes after which they are pushed.
    public var debounce: Duration
    /// The most requests of a push in flight, 1 to ``SyncLimits/parallelPushes``. With 1, the order of the
    /// whole queue is kept, parents before children; with more, the order of each item's operations.
    public var parallelism: Int
    /// The tables that a sync pulls in addition to those in the store.
    public var tables: [TableName]
    /// The number of failures of its own after which an operation is quarantined.
    public var maxAttempts: Int
    /// The rows requested in one page, 1 to ``SyncLimits/pullPageRows``.
    public var pageRows: Int
    /// How long what is settled is kept.
    public var retention: Retention

    /// Makes settings. Values out of range become the nearest in range.
    public init(
        triggers: Set<Trigger> = Set(Trigger.allCases),
        interval: Duration = .seconds(SyncLimits.syncIntervalSeconds),
        debounce: Duration = .milliseconds(SyncLimits.debounceMilliseconds), parallelism: Int = 1,
        tables: [TableName] = [],
        maxAttempts: Int = SyncLimits.attemptsBeforeRefusal,
        pageRows: Int = SyncLimits.pullPageRows,
        retention: Retention = Retention()
    ) {
        self.triggers = triggers
        self.interval = max(interval, .seconds(1))
        self.debounce = max(debounce, .zero)
        self.parallelism = min(max(parallelism, 1), SyncLimits.parallelPushes)
        self.tables = tables
        self.maxAttempts = max(maxAttempts, 1)
        self.pageRows = min(max(pageRows, 1), SyncLimits.pullPageRows)
        self.retention = retention
    }

    /// The operations that a push holds in flight at its beginning. With one slot an outcome is on disk
    /// before the next operation is marked; with several, the next are marked while requests are in flight.
    var operationsInFlight: Int {
        parallelism == 1 ? 1 : parallelism * SyncLimits.operationsPerRequestSlot
    }

    /// The most operations that a push holds in flight when requests wait for marked ones.
    var maxOperationsInFlight: Int {
        parallelism == 1 ? 1 : parallelism * SyncLimits.maxOperationsPerRequestSlot
    }
}

/// An event that may start a sync; each can be switched off.
public enum Trigger: String, Sendable, Hashable, CaseIterable {
    /// A person, a command or a client requests it.
    case manual
    /// Local writes, after the debounce time.
    case afterWrites
    /// The interval has passed.
    case interval
    /// The backend can be reached again.
    case reconnect
    /// A client reads a table with the read policy `revalidate`, or a table that was not pulled yet.
    case read
}
