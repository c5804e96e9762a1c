import TablesProtocol

extension Transaction {
    /// Makes the backend's side what the item's open operations start from, and the row what they
    /// leave of it.
    ///
    /// 1. Each operation in order becomes what reaches its goal from there, or closes when there is
    ///    nothing left to do.
    /// 2. What one leaves behind is what the next starts from.
    /// 3. When none is left, the row is the backend's.
    ///
    /// - Parameter holds: whether versions that clients hold stay valid although columns changed.
    func rebase(
        _ row: inout ItemRow, _ chain: [TableOperation], onto server: ServerSide, holds: Bool
    ) throws {
        let before = row
        var current = server
        var kept: [TableOperation] = []
        // Each gets its place below: an operation that becomes two must not find it taken.
        for operation in chain.dropFirst() {
            try run("UPDATE operations SET successor_of = NULL WHERE seq = ?", [operation.seq])
        }
        for operation in chain {
            let columns = Rebase.wanted(operation, over: current)
            let kinds = Rebase.kinds(operation, wanting: columns, over: current)
            kept += try become(
                kinds, operation, columns, from: current, isFirst: kept.isEmpty,
                after: kept.last?.seq)
            current.columns = columns
            current.isDeleted = operation.kind == .delete
        }
        row.serverVersion = server.version
        row.serverUpdatedAt = server.updatedAt
        row.serverDeleted = server.isDeleted
        row.createdAt = server.createdAt?.milliseconds ?? row.createdAt
        row.pending = kept.first?.seq
        row.shadow = kept.isEmpty ? nil : server.columns
        row.columns = current.columns ?? row.columns
        row.deleted = !current.isLive
        if kept.isEmpty, let version = server.version {
            try turn(&row, from: before, version: version, holds: holds)
        } else {
            try turn(&row, from: before, version: nil, holds: holds)
        }
    }

    /// Makes an operation these kinds: itself the first, a new one the second.
    private func become(
        _ kinds: [OperationKind], _ operation: TableOperation, _ columns: Columns,
        from current: ServerSide, isFirst: Bool, after predecessor: Int64?
    ) throws -> [TableOperation] {
        var first = operation
        guard let kind = kinds.first else {
            try close(&first, .collapsed, reason: "The backend has it so already.")
            return []
        }
        first.kind = kind
        first.baseRow = kind == .insert ? nil : current.columns
        first.baseVersion = isFirst && kind != .insert ? current.version : nil
        first.successorOf = predecessor
        first.take(columns)
        try save(&first)
        guard kinds.count == 2 else { return [first] }
        var second = TableOperation(
            id: ids.operationID(at: now), tableID: first.tableID, table: first.table,
            itemID: first.itemID,
            kind: kinds[1], generation: first.generation, actor: first.actor, createdAt: now)
        second.baseRow = current.columns
        second.conditional = first.conditional
        second.parameters = first.parameters
        second.successorOf = first.seq
        second.take(columns)
        try insert(&second)
        return [first, second]
    }

    /// Gives a changed row its stamp and version and writes it.
    ///
    /// Whatever a client can see of a row gives it a new stamp, its version and creation too:
    /// clients sync by the stamp, and one that missed a version would meet a false conflict later.
    /// A version that a client holds stays valid while the columns are the same, or when the change
    /// came with the answer to a push.
    func turn(
        _ row: inout ItemRow, from before: ItemRow, version: String?, holds: Bool
    ) throws {
        let isNew = before.rowID == nil
        let isVisible =
            isNew || before.deleted != row.deleted
            || !row.columns.changedNames(from: before.columns).isEmpty
        if let version { row.version = version }
        // A version that the backend gives a second time, to something else, is no version to clients.
        let isSpent = !isNew && row.version == before.version
        if isVisible, version == nil || isSpent { row.version = ids.version() }
        if isVisible || row.version != before.version || row.createdAt != before.createdAt {
            row.stamp = try nextStamp(row.tableID)
        }
        if !isNew {
            if isVisible, !holds {
                try dropHeldVersions(before)
            } else if row.version != before.version {
                try holdVersion(before)
            }
        }
        try save(&row)
    }

    /// The row becomes what was last known of the backend: the item has no open operation any more.
    /// The caller writes it.
    func takeShadow(_ row: inout ItemRow) {
        row.pending = nil
        row.columns = row.shadow ?? row.columns
        row.deleted = row.shadow == nil || row.serverDeleted
        row.shadow = nil
    }
}
