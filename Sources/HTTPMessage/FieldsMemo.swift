import Synchronization

/// A request that repeats an earlier one of its connection, byte for byte, but for its target; it has
/// no body.
public struct RepeatedRequest: Sendable {
    /// The raw request target, which nobody has judged yet.
    public let target: String
    /// What was kept when the earlier one was answered.
    public let memo: FieldsMemo
    /// As ``Connection/worker``.
    public let worker: Int

    /// Makes one from its parts.
    public init(target: String, memo: FieldsMemo, worker: Int) {
        self.target = target
        self.memo = memo
        self.worker = worker
    }
}

/// Room for what a handler has found out from a request's method, header fields and connection alone.
///
/// The server gives the same one to requests of a connection that follow each other with the same
/// method and, byte for byte, the same header fields. Only what cannot change meanwhile may be kept.
public final class FieldsMemo: Sendable {
    private let kept = Mutex<(any AnyObject & Sendable)?>(nil)

    /// An empty memo.
    public init() {}

    /// What was kept last, if it is of this type.
    public func value<Kept: AnyObject & Sendable>(_ type: Kept.Type = Kept.self) -> Kept? {
        kept.withLock { $0 as? Kept }
    }

    /// Keeps something in the place of what was kept before.
    public func keep(_ value: some AnyObject & Sendable) {
        kept.withLock { $0 = value }
    }
}
