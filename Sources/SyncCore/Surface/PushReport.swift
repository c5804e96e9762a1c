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
