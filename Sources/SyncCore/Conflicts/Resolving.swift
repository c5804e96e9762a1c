public import TablesProtocol

/// A person's decision about a conflict.
public enum Resolution: Sendable, Hashable {
    /// Sends my changes over the backend's row.
    case mine
    /// Keeps the backend's row and discards my change.
    case server
    /// Sends the proposed merge (``ConflictDetail/proposed``).
    case merged
    /// Lets the side that was written later win where both changed a column, and sends the merge. Where one
    /// side is deleted, the later side wins whole.
    case newest
    /// Keeps the backend's row, and inserts my row as a new item.
    case both
    /// Sends the proposed merge with these columns set on top. Without a proposal they are set on top of my
    /// row, or of the backend's if mine is deleted.
    case edited(Columns)
}

/// Applies a person's decision about a conflict.
struct Resolving: InTransaction {
    let transaction: Transaction
    /// For how long what is left to send is held back (``DecisionHold``); 0 for not at all.
    var holdSeconds = 0

    /// Applies a person's decision. The decision can be undone from history.
    ///
    /// - mine: sends my changes over the backend's row. Columns that only the backend changed stay.
    /// - merged: sends the proposed merge.
    /// - newest: decides as mine if the local change is later than the backend's row, else as merged or server.
    /// - edited: sends the proposed merge with the given columns set on top (see ``Resolution/edited(_:)``).
    /// - server: makes the item the backend's row.
    /// - both: makes the item the backend's row, and inserts my row as a new item.
    func resolve(
        _ id: OperationID, revision: Int, _ resolution: Resolution
    ) throws -> ActionOutcome {
        let found = try actions.find(id, revision: revision)
        guard case .operation(var operation, let table, var row) = found else {
            return found.refusal
        }
        guard operation.state == .conflict else {
            return .refused(reason: "It is in no conflict.")
        }
        let server = ServerSide(shadowOf: row)
        let proposed = proposed(operation, row, server)
        switch resolution {
        case .newest:
            guard let theirs = server.updatedAt.flatMap({ Instant(parsing: $0) }) else {
                return .refused(
                    reason: "The server's row has no time: keep mine or the server's.")
            }
            let isMineLater = operation.createdAt > theirs
            return try resolve(
                id, revision: revision,
                isMineLater ? .mine : proposed == nil ? .server : .merged)
        case .mine:
            let mine = row.deleted ? nil : mine(operation, row, over: server)
            // My values stay, so `before` in history is the backend's row that is replaced.
            try send(
                mine, &operation, &row, over: server, "Kept mine.",
                before: server.isLive ? server.columns : nil)
        case .merged:
            guard let proposed else {
                return .refused(reason: "A deletion cannot be merged: keep mine or the server's.")
            }
            try send(
                proposed, &operation, &row, over: server, "Kept the merge.", before: row.visible)
        case .edited(let columns):
            let respelled: Columns
            switch try tables.respell(written: columns, in: table) {
            case .refused(let sentence): return .refused(reason: sentence)
            case .taken(let columns): respelled = columns
            }
            var result = proposed ?? row.visible ?? server.columns ?? Columns()
            if transaction.has(.editedResultIsWholeRow) {
                result = Columns(result.all.map { Columns.Column($0.name, .null) })
            }
            result.merge(respelled)
            try send(result, &operation, &row, over: server, "Kept an edit.", before: row.visible)
        case .server:
            try discarding.giveUp(
                &operation, &row, for: server, by: .person, reason: "Kept the server's.",
                kind: .resolved)
        case .both:
            return try keepBoth(&operation, &row, table, server)
        }
        return try actions.emitDone(operation)
    }

    /// The proposed merge; nil if either side is deleted.
    private func proposed(
        _ operation: TableOperation, _ row: ItemRow, _ server: ServerSide
    ) -> Columns? {
        guard server.isLive, !row.deleted, let theirs = server.columns else { return nil }
        return ThreeWayMerge(
            base: operation.baseRow ?? Columns(), mine: row.columns, theirs: theirs
        ).proposed
    }

    private func mine(
        _ operation: TableOperation, _ row: ItemRow, over server: ServerSide
    ) -> Columns {
        guard let theirs = server.columns, !transaction.has(.mineRevertsTheirs) else {
            return row.columns
        }
        return ThreeWayMerge(
            base: operation.baseRow ?? Columns(), mine: row.columns, theirs: theirs
        ).mineOverTheirs
    }

    /// Sets the item's columns, or deletes the item if `columns` is nil. Rewrites the operation so that it
    /// changes the backend's row to that state.
    private func send(
        _ columns: Columns?, _ operation: inout TableOperation, _ row: inout ItemRow,
        over server: ServerSide, _ summary: String, before: Columns?
    ) throws {
        let point = UndoPoint(operation, row, server)
        let successors = try queue.successors(of: operation.seq)
        if let columns {
            operation.kind = .update
            operation.baseRow = server.columns
            operation.setChange(to: columns)
        }
        try queue.requeue(&operation, summary)
        try rebase.move(&row, [operation] + successors, onto: server, isDecided: true)
        operation = try queue.operation(seq: operation.seq) ?? operation
        try hold(&operation)
        try history.record(
            .resolved, actor: .person, operation, before: before, after: row.visible,
            summary: summary, point: point)
    }

    private func keepBoth(
        _ operation: inout TableOperation, _ row: inout ItemRow, _ table: TableRecord,
        _ server: ServerSide
    ) throws -> ActionOutcome {
        guard let mine = row.visible else {
            return .refused(reason: "Mine is deleted: there is nothing to keep beside.")
        }
        let copy = LocalWrite(
            table: table.name, action: .insert(ItemBody(columns: mine)),
            generation: operation.generation, parameters: operation.parameters,
            headers: operation.headers, actor: .person)
        let outcome = try writing.perform(copy, WriteRules())
        guard case .inserted(let item, _) = outcome else {
            return .refused(reason: "Mine cannot be inserted as a new item.")
        }
        try discarding.giveUp(
            &operation, &row, for: server, by: .person,
            reason: "Kept both: mine is a new item.", kind: .resolved, copy: item.id)
        if let copy = try items.row(table, item.id), var insert = try queue.chain(of: copy).first {
            try hold(&insert)
        }
        return try actions.emitDone(operation)
    }

    private func hold(_ operation: inout TableOperation) throws {
        guard holdSeconds > 0 else { return }
        try DecisionHold(transaction: transaction).hold(&operation, seconds: holdSeconds)
    }
}
