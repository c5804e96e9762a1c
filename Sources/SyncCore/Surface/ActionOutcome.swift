/// What became of an operator's action.
public enum ActionOutcome: Sendable, Hashable {
    /// Done; the operation as it is now, where there is one.
    case done(OperationSummary?)
    /// The operation is not what the action was decided on: decide again.
    case changed(current: OperationSummary)
    /// There is no such operation or entry.
    case notFound
    /// It cannot be done in this state, for this reason.
    case refused(reason: String)
}
