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
