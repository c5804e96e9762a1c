public import TablesProtocol

public enum RunState: String, Sendable, Hashable, CaseIterable {
    case running, complete, completeWithErrors, offline, signIn, cancelled, failed
}

public enum RunKind: String, Sendable, Hashable, CaseIterable { case sync, push, pull }

/// One push, pull or sync: in progress or finished.
public struct Run: Sendable, Hashable {
    /// How far a run in progress is.
    public struct Progress: Sendable, Hashable {
        public enum Phase: String, Sendable, Hashable, CaseIterable { case push, pull }

        public var phase: Phase
        /// The number of operations that were tried, or the number of rows of the current table that were
        /// received.
        public var done: Int
        /// The number of operations that are due, or of rows that the backend announced; nil if it did not.
        public var total: Int?
    }

    public var id: String
    public var kind: RunKind
    public var state = RunState.running
    /// Why it has this state, in plain words.
    public var reason: String?
    public var startedAt: Instant
    public var endedAt: Instant?
    /// The report of the push; nil for a pull.
    public var push: PushReport?
    /// The reports of the pulls, one for each table.
    public var pull: [PullReport] = []
    /// How far the run is; nil before its first request and after its end.
    public var progress: Progress?
}

public struct PushReport: Sendable, Hashable {
    public struct Result: Sendable, Hashable {
        public var id: OperationID
        public var state: OperationState
    }

    /// The number of attempts made for operations, including those that only read a row back.
    public var sent = 0
    public var applied = 0
    public var conflicts = 0
    public var quarantined = 0
    /// The number of operations that are still open at the end.
    public var left = 0
    /// The latest results; at most ``StoreLimits/runResults`` after the end.
    public var results: [Result] = []

    public init() {}

    /// The sum of two pushes of one run.
    func following(_ earlier: PushReport?) -> PushReport {
        guard let earlier else { return self }
        var both = self
        both.sent += earlier.sent
        both.applied += earlier.applied
        both.conflicts += earlier.conflicts
        both.quarantined += earlier.quarantined
        both.results = (earlier.results + results).suffix(StoreLimits.runResults)
        return both
    }
}

public struct PullReport: Sendable, Hashable {
    public var table: String
    public var requests = 0
    public var received = 0
    /// The number of rows that the backend announced; nil if it did not, or if an earlier process ran the
    /// pull.
    public var total: Int?
    /// The number of rows that changed the store.
    public var applied = 0
    /// The number of rows with local changes. The local changes stay; the backend's row is stored beside
    /// them.
    public var skippedDirty = 0
    public var deleted = 0
    /// Why the pull stopped early, in plain words.
    public var error: String?

    public init(table: String) { self.table = table }
}
