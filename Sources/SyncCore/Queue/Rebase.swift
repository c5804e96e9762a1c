import Storage
import TablesProtocol

/// Rebases operations: makes them start from a newer row of the backend.
struct Rebase: InTransaction {
    let transaction: Transaction

    /// Rebases the item's open operations onto the backend's row, and sets the row to what they result in.
    ///
    /// 1. Each operation in order is judged against the backend's row as the operations before it leave it
    ///    (``ChainJudge``). Without an overlap it is rewritten for that row, or closed if nothing is left
    ///    to do.
    /// 2. If the item's first operation overlaps, it becomes a conflict unless the table's policy decides.
    ///    Its successors stay as they are.
    /// 3. If a later operation overlaps, it keeps its base in the overlapping columns, and is judged again
    ///    when the operations before it have settled.
    /// 4. If no operation is left, the row becomes the backend's.
    /// 5. If the last operation is a delete that overlaps, and others are before it, the item's columns are
    ///    kept. They are needed if the delete is given up.
    ///
    /// - Parameters:
    ///   - predecessor: the operation that the backend has just applied, if that is why the row is newer.
    ///   - isDecided: whether a person, a policy or the push has already judged the first operation.
    func move(
        _ row: inout ItemRow, _ chain: [TableOperation], onto server: ServerSide,
        after predecessor: ChainJudge.Predecessor? = nil, isDecided: Bool = false
    ) throws {
        let before = row
        var judge = ChainJudge(server, owner: try binding.owner(), after: predecessor)
        var kept: [TableOperation] = []
        var conflict: TableOperation?
        var keepsDeletedColumns = false
        // Links are set again below. A rewritten operation may become two, and `successor_of` is unique.
        for operation in chain.dropFirst() {
            try transaction.run(
                "UPDATE operations SET successor_of = NULL WHERE seq = ?", [operation.seq])
        }
        var chain = chain
        var index = 0
        while index < chain.count {
            var operation = chain[index]
            defer { index += 1 }
            guard conflict == nil else {
                operation.successorOf = kept.last?.seq
                try queue.save(&operation)
                kept.append(operation)
                continue
            }
            let isFree = index == 0 && isDecided
            let judgement = isFree ? .noOverlap : judge.judge(operation)
            keepsDeletedColumns =
                judgement != .noOverlap && operation.kind == .delete && !kept.isEmpty
            switch (judgement, kept.isEmpty) {
            case (.noOverlap, _):
                kept += try rewrite(operation, over: judge.server, after: kept.last?.seq)
            case (.overlap(let names), false):
                operation.baseRow = judge.base(of: operation, without: names)
                operation.successorOf = kept.last?.seq
                operation.setChange(to: operation.result)
                try queue.save(&operation)
                kept.append(operation)
            case (.overlap, true):
                switch try policy(for: operation, meeting: judge.server) {
                case .ask:
                    try openConflict(&operation, meeting: judge.server)
                    conflict = operation
                    kept.append(operation)
                case .client, .merge:
                    kept += try rewrite(operation, over: judge.server, after: nil)
                    try recordOverwrite(operation, of: judge.server)
                case .server:
                    try giveUpSuccessor(
                        &operation, before, for: judge.server, isFollowed: index + 1 < chain.count)
                    if index + 1 == chain.count, let update = try folding.unfold(operation) {
                        chain.append(update)
                    }
                    continue
                }
            }
            judge.advance(past: operation)
        }
        row.takeServerProperties(server)
        row.createdAt = row.createdAt ?? server.createdAt?.milliseconds
        row.pending = kept.first?.seq
        row.shadow = kept.isEmpty ? nil : server.columns
        // In a conflict the local row stays as the client changed it.
        if conflict == nil {
            if !keepsDeletedColumns { row.columns = judge.server.columns ?? row.columns }
            if let last = kept.last, last.kind == .delete { row.columns.merge(last.changes) }
            row.deleted = !judge.server.isLive
        }
        try items.restamp(
            &row, from: before, isOwnAnswer: predecessor?.isOwnAnswer ?? false)
        if var conflict {
            try recordConflict(conflict, of: row, with: server)
            events.emit(.conflict, conflict)
            try folding.fold(&conflict, &row)
        }
    }

    /// Rewrites an operation as the requests that bring the backend's row to the operation's goal. The operation
    /// becomes the first request; a second request is a new operation.
    /// - Returns: the operations that are left to send.
    private func rewrite(
        _ operation: TableOperation, over server: ServerSide, after predecessor: Int64?
    ) throws -> [TableOperation] {
        let columns = operation.result(over: server.columns ?? operation.baseRow)
        let kinds = Rebase.requestKinds(operation, wanting: columns, over: server)
        var first = operation
        guard let kind = kinds.first else {
            try queue.close(&first, .collapsed, reason: "The backend has it so already.")
            return []
        }
        first.kind = kind
        first.baseRow = kind == .insert ? nil : server.columns
        first.baseVersion = predecessor == nil && kind != .insert ? server.version : nil
        first.successorOf = predecessor
        first.setChange(to: columns)
        try queue.save(&first)
        guard kinds.count == 2 else { return [first] }
        var second = TableOperation(
            id: transaction.ids.operationID(at: transaction.now), tableID: first.tableID,
            table: first.table,
            itemID: first.itemID,
            kind: kinds[1], generation: first.generation, actor: first.actor,
            createdAt: transaction.now)
        second.baseRow = server.columns
        second.conditional = first.conditional
        second.parameters = first.parameters
        second.headers = first.headers
        second.successorOf = first.seq
        second.setChange(to: columns)
        try queue.insert(&second)
        return [first, second]
    }

    /// Records that the table's policy lets an operation win: `before` is the backend's row that it replaces.
    private func recordOverwrite(
        _ operation: TableOperation, of server: ServerSide
    ) throws {
        let columns = Rebase.desiredColumns(operation, over: server)
        try history.record(
            .merged, actor: .engine, operation, before: server.isLive ? server.columns : nil,
            after: operation.kind == .delete ? nil : columns,
            summary: "The table's policy keeps the local change.")
    }

    /// The policy for an operation that overlaps with another writer's change.
    private func policy(
        for operation: TableOperation, meeting server: ServerSide
    ) throws -> ConflictPolicy {
        guard let table = try tables.table(id: operation.tableID) else { return .ask }
        return PushSubject(operation, table).policy(isGone: !server.isLive)
    }

    private func openConflict(
        _ operation: inout TableOperation, meeting server: ServerSide
    ) throws {
        operation.becomeConflict(
            ConflictReason.sentence(operation.kind, isGone: !server.isLive))
        operation.baseVersion = nil
        operation.successorOf = nil
        try queue.save(&operation)
    }

    /// Records a new conflict in the history and in the log: a person has to decide it.
    /// - Parameter row: the item's row as its client sees it.
    func recordConflict(
        _ conflict: TableOperation, of row: ItemRow, with server: ServerSide
    ) throws {
        try history.record(
            .conflict, actor: .engine, conflict, before: row.visible,
            after: server.isLive ? server.columns : nil, summary: conflict.reason ?? "")
        transaction.effects.decisionsNeeded.append(DecisionNeeded(conflict))
    }

    /// Discards an operation that was not sent, because the table's policy takes the backend's row.
    private func giveUpSuccessor(
        _ operation: inout TableOperation, _ row: ItemRow, for server: ServerSide,
        isFollowed: Bool
    ) throws {
        let point = UndoPoint(operation, row, server, isFollowed: isFollowed)
        let reason = "The table's policy takes the backend's row."
        try queue.close(&operation, .discarded, reason: reason)
        try history.record(
            .discarded, actor: .engine, operation, before: row.visible,
            after: server.isLive ? server.columns : nil, summary: reason, point: point)
    }

    /// The columns that the backend should have: what the operation sends over `server`.
    static func desiredColumns(_ operation: TableOperation, over server: ServerSide) -> Columns {
        let start = server.columns ?? operation.baseRow
        return operation.kind == .delete ? start ?? Columns() : operation.result(over: start)
    }

    /// The requests, in order, that bring the backend's row to the desired columns; empty if it has them
    /// already.
    static func requestKinds(
        _ operation: TableOperation, wanting columns: Columns, over server: ServerSide
    ) -> [OperationKind] {
        if operation.kind == .delete { return server.isLive ? [.delete] : [] }
        guard let theirs = server.columns else { return [.insert] }
        let differs = !columns.writtenNames(from: theirs).isEmpty
        let change: OperationKind = operation.kind == .replace ? .replace : .update
        if server.isDeleted { return differs ? [.undelete, change] : [.undelete] }
        return differs ? [change] : []
    }
}
