import TablesProtocol

extension Transaction {
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
    func rebase(
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
            try run("UPDATE operations SET successor_of = NULL WHERE seq = ?", [operation.seq])
        }
        for (index, operation) in chain.enumerated() {
            var operation = operation
            guard conflict == nil else {
                operation.successorOf = kept.last?.seq
                try save(&operation)
                kept.append(operation)
                continue
            }
            let isFree = index == 0 && isDecided || has(.successorOverwrites)
            let judgement = isFree ? .free : sides.judge(operation)
            isAsDeleted = judgement != .free && operation.kind == .delete && !kept.isEmpty
            switch (judgement, kept.isEmpty) {
            case (.free, _):
                kept += try become(operation, over: sides.server, after: kept.last?.seq)
            case (.overlap(let names), false):
                operation.baseRow = sides.base(of: operation, without: names)
                operation.successorOf = kept.last?.seq
                operation.take(Rebase.wanted(operation, over: sides.server))
                try save(&operation)
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
        try restamp(&row, from: before)
        if var conflict {
            try record(
                .conflict, actor: .engine, conflict, before: row.visible,
                after: server.isLive ? server.columns : nil, summary: conflict.reason ?? "")
            emit(.conflict, conflict)
            try fold(&conflict, &row)
        }
    }

    /// Makes an operation what reaches its goal from there: itself the first request, a new operation
    /// the second where it takes two. Gives what is left to send.
    private func become(
        _ operation: TableOperation, over server: ServerSide, after predecessor: Int64?
    ) throws -> [TableOperation] {
        var columns = Rebase.wanted(operation, over: server)
        if has(.replaceErases), operation.kind == .replace {
            for name in columns.all.map(\.name) where operation.payload?[name] == nil {
                columns[name] = .null
            }
        }
        let kinds = Rebase.kinds(operation, wanting: columns, over: server)
        var first = operation
        guard let kind = kinds.first else {
            try close(&first, .collapsed, reason: "The backend has it so already.")
            return []
        }
        first.kind = kind
        first.baseRow = kind == .insert ? nil : server.columns
        first.baseVersion = predecessor == nil && kind != .insert ? server.version : nil
        first.successorOf = predecessor
        first.take(columns)
        try save(&first)
        guard kinds.count == 2 else { return [first] }
        var second = TableOperation(
            id: ids.operationID(at: now), tableID: first.tableID, table: first.table,
            itemID: first.itemID,
            kind: kinds[1], generation: first.generation, actor: first.actor, createdAt: now)
        second.baseRow = server.columns
        second.conditional = first.conditional
        second.parameters = first.parameters
        second.headers = first.headers
        second.successorOf = first.seq
        second.take(columns)
        try insert(&second)
        return [first, second]
    }

    /// Who decides what an operation is to do about another writer's change.
    private func policy(
        for operation: TableOperation, meeting server: ServerSide
    ) throws -> ConflictPolicy {
        guard let table = try table(id: operation.tableID) else { return .ask }
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
        try save(&operation)
    }

    /// Gives up an operation that has not been sent: the table's policy takes the backend's row.
    private func giveUpSuccessor(
        _ operation: inout TableOperation, _ row: ItemRow, for server: ServerSide
    ) throws {
        let point = UndoPoint(operation, row, server)
        let reason = "The table's policy takes the backend's row."
        try close(&operation, .discarded, reason: reason)
        try record(
            .discarded, actor: .engine, operation, before: row.visible,
            after: server.isLive ? server.columns : nil, summary: reason, point: point)
    }

    /// Gives a changed row its stamp and version and writes it.
    ///
    /// Both are the store's own and change together, with what a client can see of the row: a push
    /// that the backend took as it was, and a pulled row with nothing new in it, are invisible. Such a
    /// row is shown as before, also where the backend writes null for a column that it has not.
    func restamp(_ row: inout ItemRow, from before: ItemRow) throws {
        let isVisible =
            has(.pushIsVisible) || before.rowID == nil || before.deleted != row.deleted
            || !row.columns.changedNames(from: before.columns).isEmpty
        if isVisible {
            row.version = ids.version()
            row.stamp = try nextStamp(row.tableID)
        } else {
            row.columns = before.columns
        }
        try save(&row)
    }
}
