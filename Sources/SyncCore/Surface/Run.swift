public import TablesProtocol

/// One push, pull or sync, under way or over.
public struct Run: Sendable, Hashable {
    /// What was asked for.
    public enum Kind: String, Sendable, Hashable, CaseIterable { case sync, push, pull }

    /// How it stands.
    public enum State: String, Sendable, Hashable, CaseIterable {
        case running, complete, completeWithErrors, offline, signIn, cancelled, failed
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
