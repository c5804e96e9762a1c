public import TablesProtocol

/// One push, pull or sync, under way or over.
public struct Run: Sendable, Hashable {
    /// What was asked for.
    public enum Kind: String, Sendable, Hashable, CaseIterable { case sync, push, pull }

    /// How it stands.
    public enum State: String, Sendable, Hashable, CaseIterable {
        case running, complete, completeWithErrors, offline, signIn, cancelled, failed
    }

    /// How far a run under way is.
    public struct Progress: Sendable, Hashable {
        /// What it is doing.
        public enum Phase: String, Sendable, Hashable, CaseIterable { case push, pull }

        /// What it is doing.
        public var phase: Phase
        /// Operations that had their turn, or rows of the table under way that came.
        public var done: Int
        /// Operations that are due, or rows that the backend announced; nil when it did not.
        public var total: Int?

        /// Makes a progress from its parts.
        public init(phase: Phase, done: Int, total: Int? = nil) {
            self.phase = phase
            self.done = done
            self.total = total
        }
    }

    /// Its identity.
    public var id: String
    /// What was asked for.
    public var kind: Kind
    /// How it stands.
    public var state: State
    /// Why, in plain words.
    public var reason: String?
    /// When it began.
    public var startedAt: Instant
    /// When it ended.
    public var endedAt: Instant?
    /// What was pushed; nil for a pull.
    public var push: PushReport?
    /// What was pulled, table by table.
    public var pull: [PullReport]
    /// How far it is; nil before it asked the backend for anything, and when it is over.
    public var progress: Progress?

    /// Makes a run from its parts.
    public init(
        id: String, kind: Kind, state: State = .running, reason: String? = nil,
        startedAt: Instant, endedAt: Instant? = nil, push: PushReport? = nil,
        pull: [PullReport] = []
    ) {
        self.id = id
        self.kind = kind
        self.state = state
        self.reason = reason
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.push = push
        self.pull = pull
    }
}

/// What a push did.
public struct PushReport: Sendable, Hashable {
    /// What became of one operation.
    public struct Result: Sendable, Hashable {
        /// The operation.
        public var id: OperationID
        /// The state that it got.
        public var state: OperationState

        /// Makes a result.
        public init(id: OperationID, state: OperationState) {
            self.id = id
            self.state = state
        }
    }

    /// Operations for which a request was made.
    public var sent = 0
    /// Of those, the ones that the backend has.
    public var applied = 0
    /// Operations that became conflicts.
    public var conflicts = 0
    /// Operations that were refused.
    public var quarantined = 0
    /// Operations still open at the end.
    public var left = 0
    /// The latest results, at most ``StoreLimits/runResults`` once the push is over.
    public var results: [Result] = []

    /// Nothing yet.
    public init() {}

    /// Both pushes of one run as one.
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
