public import TablesProtocol

public enum RunState: String, Codable, Sendable, Hashable, CaseIterable {
    case running, complete, completeWithErrors, offline, signIn, cancelled, failed
}

public enum RunKind: String, Codable, Sendable, Hashable, CaseIterable { case sync, push, pull }

/// While it is running the numbers are those so far; follow `progress` by `GET …/runs/{id}`.
public struct Run: Codable, Sendable, Hashable {
    public var id: String
    /// Whose it is: `anonymous`, or the key of a user.
    public var identity: String
    public var kind: RunKind
    public var state = RunState.running
    /// One sentence for a person; null when there is nothing to say.
    public var reason: String?
    public var startedAt: Instant
    public var endedAt: Instant?
    public var push: PushReport?
    public var pull: [PullReport] = []
    public var progress: RunProgress?
}

/// How far a run under way is; null before it asked the backend for anything, and when it is over.
public struct RunProgress: Codable, Sendable, Hashable {
    public enum Phase: String, Codable, Sendable, Hashable, CaseIterable { case push, pull }

    public var phase: Phase
    /// Operations that had their turn, or rows of the table under way that came.
    public var done: Int
    /// Operations that are due, or rows that the backend announced; null when it did not.
    public var total: Int?
}

/// What a push did.
public struct PushReport: Codable, Sendable, Hashable {
    public struct Result: Sendable, Hashable {
        public var id: OperationID
        public var state: OperationState
    }

    private enum CodingKeys: CodingKey { case sent, applied, conflicts, quarantined, left }

    public var sent = 0
    public var applied = 0
    public var conflicts = 0
    public var quarantined = 0
    public var left = 0
    /// Not in its JSON: the latest results; at most ``StoreLimits/runResults`` after the end.
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

/// What the pull of one table did.
public struct PullReport: Codable, Sendable, Hashable {
    public var table: String
    public var requests = 0
    public var received = 0
    /// Rows that the backend announced; null when it did not, or when that is not known any more.
    public var total: Int?
    public var applied = 0
    public var skippedDirty = 0
    public var deleted = 0
    public var error: String?

    public init(table: String) { self.table = table }
}
