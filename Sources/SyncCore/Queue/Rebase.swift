import TablesProtocol

/// What an operation has to become when the backend's side of its item is not what it started from.
enum Rebase {
    /// The columns that an operation wants the item to have once it starts from `server`: its own
    /// changes, and everything else as it is there.
    static func wanted(_ operation: TableOperation, over server: ServerSide) -> Columns {
        var columns = server.columns ?? operation.baseRow ?? Columns()
        switch operation.kind {
        case .insert, .replace, .update: columns.merge(operation.changes)
        case .delete, .undelete: break
        }
        return columns
    }

    /// The requests, in order, that make the backend's side as the operation wants it; none when it
    /// is so already.
    static func kinds(
        _ operation: TableOperation, wanting columns: Columns, over server: ServerSide
    ) -> [OperationKind] {
        if operation.kind == .delete { return server.isLive ? [.delete] : [] }
        guard let theirs = server.columns else { return [.insert] }
        let differs = !columns.changedNames(from: theirs).isEmpty
        let change: OperationKind = operation.kind == .replace ? .replace : .update
        if server.isDeleted { return differs ? [.undelete, change] : [.undelete] }
        return differs ? [change] : []
    }
}
