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
            try send(row.visible, &operation, &row, over: server, "Kept mine.")
        case .merged:
            guard server.isLive, !row.deleted, let theirs = server.columns else {
                return .refused(reason: "A deletion cannot be merged: keep mine or the server's.")
            }
            let merge = ThreeWayMerge(
                base: operation.baseRow, mine: row.columns, server: theirs)
            try send(merge.proposed, &operation, &row, over: server, "Kept the merge.")
        case .edited(let columns):
            try send(
                try respell(columns, in: table), &operation, &row, over: server, "Kept an edit.")
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
    private func send(
        _ columns: Columns?, _ operation: inout TableOperation, _ row: inout ItemRow,
        over server: ServerSide, _ summary: String
    ) throws {
        let before = row.visible
        let successors = try successors(of: operation.seq)
        if let columns {
            operation.kind = .replace
            operation.payload = columns
        }
        try requeue(&operation, summary)
        try rebase(&row, [operation] + successors, onto: server, holds: false)
        if var rebased = try self.operation(seq: operation.seq) {
            // A whole row is how it was decided, not how it is sent.
            if rebased.state.isOpen, rebased.kind == .replace {
                rebased.kind = .update
                rebased.take(columns ?? row.columns)
                try save(&rebased)
            }
            operation = rebased
        }
        try record(
            .resolved, actor: .person, operation, before: before, after: row.visible,
            summary: summary, undoable: true)
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
