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
