import TablesProtocol

extension Transaction {
    /// Settles a conflict as a person decided; undoable from history.
    ///
    /// - mine, merged, edited: the item becomes that, and what differs from the backend's row is
    ///   sent, starting from it.
    /// - server: the item becomes the backend's row.
    /// - both: the same, and mine becomes a new item.
    func resolve(
        _ id: OperationID, revision: Int, _ resolution: Resolution
    ) throws -> ActionOutcome {
        let found = try find(id, revision: revision)
        guard case .operation(var operation, let table, var row) = found else {
            return found.refusal
        }
        guard operation.state == .conflict else {
            return .refused(reason: "It is in no conflict.")
        }
        let server = ServerSide(shadowOf: row)
        switch resolution {
        case .mine:
            // The row stays; what the decision takes away is the backend's.
            try send(
                row.visible, &operation, &row, over: server, "Kept mine.",
                before: server.isLive ? server.columns : nil)
        case .merged:
            guard server.isLive, !row.deleted, let theirs = server.columns else {
                return .refused(reason: "A deletion cannot be merged: keep mine or the server's.")
            }
            let merge = ThreeWayMerge(
                base: operation.baseRow, mine: row.columns, server: theirs)
            try send(
                merge.proposed, &operation, &row, over: server, "Kept the merge.",
                before: row.visible)
        case .edited(let columns):
            try send(
                try respell(columns, in: table), &operation, &row, over: server, "Kept an edit.",
                before: row.visible)
        case .server:
            try giveUp(
                &operation, &row, for: server, by: .person, reason: "Kept the server's.",
                kind: .resolved)
        case .both:
            guard let mine = row.visible else {
                return .refused(reason: "Mine is deleted: there is nothing to keep beside.")
            }
            try giveUp(
                &operation, &row, for: server, by: .person,
                reason: "Kept both: mine is a new item.", kind: .resolved)
            try insertCopy(of: mine, operation, table)
        }
        return try told(operation)
    }

    /// Makes the item these columns (nil: deleted) and the operation what reaches that from the
    /// backend's row.
    /// - Parameter before: what undoing the decision brings back.
    private func send(
        _ columns: Columns?, _ operation: inout TableOperation, _ row: inout ItemRow,
        over server: ServerSide, _ summary: String, before: Columns?
    ) throws {
        let successors = try successors(of: operation.seq)
        if let columns {
            operation.kind = .update
            operation.baseRow = nil
            operation.payload = Self.whole(columns, over: server.columns)
        }
        try requeue(&operation, summary)
        try rebase(&row, [operation] + successors, onto: server, holds: false)
        operation = try self.operation(seq: operation.seq) ?? operation
        try record(
            .resolved, actor: .person, operation, before: before, after: row.visible,
            summary: summary, undoable: true)
    }

    /// Every column, with null for those that only the backend has.
    private static func whole(_ columns: Columns, over theirs: Columns?) -> Columns {
        var whole = columns
        for name in theirs?.names ?? [] where whole[name] == nil { whole[name] = .null }
        return whole
    }

    private func insertCopy(
        of columns: Columns, _ operation: TableOperation, _ table: TableRecord
    ) throws {
        let write = LocalWrite(
            table: table.name, action: .insert(ItemBody(columns: columns)),
            generation: operation.generation, parameters: operation.parameters, actor: .person)
        _ = try perform(write, WriteRules())
    }
}
