import TablesProtocol

/// Makes operations start from a newer row of the backend.
struct Rebase {
    let transaction: Transaction
    private var events: EventLog { transaction.events }
    private var history: HistoryLog { transaction.history }
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var tables: TableRecords { transaction.tables }
    private var folding: Folding { Folding(transaction: transaction) }

    /// Makes the backend's side what the item's open operations start from, and the row what they
    /// leave of it.
    ///
    /// 1. Each operation in order is judged against the row that it meets (``ChainSides``). One that
    ///    is free becomes what reaches its goal from there, or closes when nothing is left to do.
    /// 2. The first of the item that meets another writer's change is a conflict, unless the table's
    ///    policy decides; what follows it stays as it is.
    /// 3. One that meets such a change behind another operation keeps its base in the columns in
    ///    question, and is judged again when that one has settled.
    /// 4. When none is left, the row is the backend's. A row that is to be deleted, once that has been
    ///    judged, stays as it was when it was deleted: so it comes back if it is not.
    ///
    /// - Parameters:
    ///   - predecessor: the operation that the backend has just taken, where that is why.
    ///   - isDecided: the first operation was judged already, by a person, a policy or the push.
    func move(
        _ row: inout ItemRow, _ chain: [TableOperation], onto server: ServerSide,
        after predecessor: ChainSides.Predecessor? = nil, isDecided: Bool = false
    ) throws {
        let before = row
        var sides = ChainSides(server, after: predecessor)
        var kept: [TableOperation] = []
        var conflict: TableOperation?
        var isAsDeleted = false
        // Each gets its place below: an operation that becomes two must not find it taken.
        for operation in chain.dropFirst() {
            try transaction.run(
                "UPDATE operations SET successor_of = NULL WHERE seq = ?", [operation.seq])
        }
        for (index, operation) in chain.enumerated() {
            var operation = operation
            guard conflict == nil else {
                operation.successorOf = kept.last?.seq
                try queue.save(&operation)
                kept.append(operation)
                continue
            }
            let isFree = index == 0 && isDecided || transaction.has(.successorOverwrites)
            let judgement = isFree ? .free : sides.judge(operation)
            isAsDeleted = judgement != .free && operation.kind == .delete && !kept.isEmpty
            switch (judgement, kept.isEmpty) {
            case (.free, _):
                kept += try become(operation, over: sides.server, after: kept.last?.seq)
            case (.overlap(let names), false):
                operation.baseRow = sides.base(of: operation, without: names)
                operation.successorOf = kept.last?.seq
                operation.take(Rebase.wanted(operation, over: sides.server))
                try queue.save(&operation)
                kept.append(operation)
            case (.overlap, true):
                switch try policy(for: operation, meeting: sides.server) {
                case .ask:
                    try open(&operation, meeting: sides.server)
                    conflict = operation
                    kept.append(operation)
                case .client, .merge: kept += try become(operation, over: sides.server, after: nil)
                case .server:
                    try giveUpSuccessor(&operation, before, for: sides.server)
                    continue
                }
            }
            sides.pass(operation)
        }
        row.serverVersion = server.version
        row.serverUpdatedAt = server.updatedAt
        row.serverDeleted = server.isDeleted
        row.createdAt = row.createdAt ?? server.createdAt?.milliseconds
        row.pending = kept.first?.seq
        row.shadow = kept.isEmpty ? nil : server.columns
        // Beside a conflict the row stays what the client made of it.
        if conflict == nil {
            if !isAsDeleted { row.columns = sides.server.columns ?? row.columns }
            row.deleted = !sides.server.isLive
        }
        try items.restamp(&row, from: before)
        if var conflict {
            try history.record(
                .conflict, actor: .engine, conflict, before: row.visible,
                after: server.isLive ? server.columns : nil, summary: conflict.reason ?? "")
            events.emit(.conflict, conflict)
            try folding.fold(&conflict, &row)
        }
    }

    /// Makes an operation what reaches its goal from there: itself the first request, a new operation
    /// the second where it takes two. Gives what is left to send.
    private func become(
        _ operation: TableOperation, over server: ServerSide, after predecessor: Int64?
    ) throws -> [TableOperation] {
        var columns = Rebase.wanted(operation, over: server)
        if transaction.has(.replaceErases), operation.kind == .replace {
            for name in columns.all.map(\.name) where operation.payload?[name] == nil {
                columns[name] = .null
            }
        }
        let kinds = Rebase.kinds(operation, wanting: columns, over: server)
        var first = operation
        guard let kind = kinds.first else {
            try queue.close(&first, .collapsed, reason: "The backend has it so already.")
            return []
        }
        first.kind = kind
        first.baseRow = kind == .insert ? nil : server.columns
        first.baseVersion = predecessor == nil && kind != .insert ? server.version : nil
        first.successorOf = predecessor
        first.take(columns)
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
        second.take(columns)
        try queue.insert(&second)
        return [first, second]
    }

    /// Which policy decides what an operation is to do about another writer's change.
    private func policy(
        for operation: TableOperation, meeting server: ServerSide
    ) throws -> ConflictPolicy {
        guard let table = try tables.table(id: operation.tableID) else { return .ask }
        return PushSubject(operation, table).policy(isGone: !server.isLive)
    }

    /// Makes an operation a conflict that waits for a person.
    private func open(_ operation: inout TableOperation, meeting server: ServerSide) throws {
        operation.state = .conflict
        operation.reason = ConflictReason.sentence(operation.kind, isGone: !server.isLive)
        operation.baseVersion = nil
        operation.successorOf = nil
        operation.waitsFor = nil
        operation.nextAttemptAt = nil
        try queue.save(&operation)
    }

    /// Gives up an operation that has not been sent: the table's policy takes the backend's row.
    private func giveUpSuccessor(
        _ operation: inout TableOperation, _ row: ItemRow, for server: ServerSide
    ) throws {
        let point = UndoPoint(operation, row, server)
        let reason = "The table's policy takes the backend's row."
        try queue.close(&operation, .discarded, reason: reason)
        try history.record(
            .discarded, actor: .engine, operation, before: row.visible,
            after: server.isLive ? server.columns : nil, summary: reason, point: point)
    }

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
