import TablesProtocol

/// What the engine decided on an operation, to be committed in one transaction.
enum SettledOutcome: Sendable {
    /// The backend has it. `row` is its answer, nil when it sent none (a delete, or the row is gone).
    case applied(row: RemoteRow?, RowOrigin)
    /// Not now; the backend cannot have acted unless `maybeApplied`.
    /// `isAsked`: the backend named the time.
    case waiting(reason: String, until: Instant?, maybeApplied: Bool, isAsked: Bool = false)
    /// A request may have reached the backend and no verdict came.
    case unknown(reason: String, until: Instant?, isAsked: Bool = false)
    /// Start again from the backend's present row: a merge of disjoint columns, or mine by policy.
    /// Due at once. The row nil: the backend has none, so the operation becomes an insert.
    case rebased(onto: RemoteRow?, reason: String)
    /// A person decides. The row nil or deleted: the backend has none.
    case conflict(server: RemoteRow?, reason: String)
    /// The backend refuses it.
    case quarantined(reason: String, maybeApplied: Bool)
    /// A policy takes the backend's row and gives mine up.
    case discarded(server: RemoteRow?, reason: String)
}
