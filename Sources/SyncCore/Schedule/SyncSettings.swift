public import TablesProtocol

/// What the operator may set about syncing.
public struct SyncSettings: Sendable, Hashable {
    /// What may start a sync. With ``Trigger/manual`` alone nothing happens unasked.
    public var triggers: Set<Trigger>
    /// Time between two syncs of the interval trigger.
    public var interval: Duration
    /// Quiet time after the last write before it is pushed.
    public var debounce: Duration
    /// Operations on different items that are sent at once, 1 to ``SyncLimits/parallelPushes``. With 1
    /// the order of the whole queue is kept, parents before children; with more that of each item.
    public var parallelism: Int
    /// Tables that a sync pulls besides those the store knows.
    public var tables: [TableName]
    /// Verdicts of the backend's own failure after which an operation is quarantined.
    public var maxAttempts: Int
    /// Rows asked for in one page, 1 to ``SyncLimits/pullPageRows``.
    public var pageRows: Int

    /// Settings; those out of range become the nearest in range.
    public init(
        triggers: Set<Trigger> = Set(Trigger.allCases), interval: Duration = .seconds(300),
        debounce: Duration = .milliseconds(300), parallelism: Int = 1, tables: [TableName] = [],
        maxAttempts: Int = 10, pageRows: Int = SyncLimits.pullPageRows
    ) {
        self.triggers = triggers
        self.interval = max(interval, .seconds(1))
        self.debounce = max(debounce, .zero)
        self.parallelism = min(max(parallelism, 1), SyncLimits.parallelPushes)
        self.tables = tables
        self.maxAttempts = max(maxAttempts, 1)
        self.pageRows = min(max(pageRows, 1), SyncLimits.pullPageRows)
    }

    /// How many operations have their turn at once: with one request at a time an outcome is on disk
    /// before the next is marked in flight, with more the next are marked while requests are under way.
    var turnsAtOnce: Int {
        parallelism == 1 ? 1 : parallelism * SyncLimits.turnsForEachRequest
    }

    /// The same where requests have to wait for such marks.
    var mostTurnsAtOnce: Int {
        parallelism == 1 ? 1 : parallelism * SyncLimits.mostTurnsForEachRequest
    }
}

/// What may start a sync; each can be switched off.
public enum Trigger: String, Sendable, Hashable, CaseIterable {
    /// A person or client asks.
    case manual
    /// Local writes, after a moment of quiet.
    case afterWrites
    /// Time.
    case interval
    /// The backend can be reached again.
    case reconnect
    /// A client reads a table that is read through.
    case read
}
