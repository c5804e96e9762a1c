import Logging
import TablesProtocol

/// An operation that the engine left to a person: a conflict, or one that the backend refused.
struct DecisionNeeded: Sendable, Hashable {
    let operation: OperationID
    let table: String
    let kind: OperationKind
    let state: OperationState
    /// The status of the backend's last answer; nil without one.
    let status: Int?

    init(_ operation: TableOperation) {
        self.operation = operation.id
        table = operation.table.text
        kind = operation.kind
        state = operation.state
        status = operation.lastStatus
    }
}

// What the log says of it. It names no item, and no reason: a reason may repeat the backend's text.
extension DecisionNeeded {
    var message: Logger.Message { state == .conflict ? "conflict" : "operation refused" }

    func logged(_ identity: String) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            "operation": "\(operation)", "table": "\(table)", "kind": "\(kind)",
            "identity": "\(identity)",
        ]
        if let status { fields["status"] = .stringConvertible(status) }
        return fields
    }
}
