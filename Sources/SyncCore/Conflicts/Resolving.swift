import Storage
public import TablesProtocol

/// A person's decision about a conflict.
public enum Resolution: Sendable, Hashable {
    /// Sends my changes over the backend's row. Columns that only the backend changed stay.
    case mine
    /// Makes the item the backend's row, and discards my change.
    case server
    /// Sends the proposed merge (``ConflictDetail/proposed``).
    case merged
    /// Lets the side that was written later win where both changed a column, and sends the merge. Where one
    /// side is deleted, the later side wins whole.
    case newest
    /// Makes the item the backend's row, and inserts my row as a new item.
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

    /// Applies a person's decision, which can be undone from history.
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
        let mine = try queue.mine(of: operation, row)
        // A deletion on either side cannot be merged.
        let merge = mine.map {
            ThreeWayMerge(
                base: operation.baseRow ?? Columns(), mine: $0, theirs: server.columns ?? Columns())
        }
        let proposed = server.isLive ? merge?.proposed : nil
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
            let takesRow = server.columns == nil
            // My values stay, so `before` in history is the backend's row that is replaced.
            try send(
                takesRow ? mine : merge?.mineOverTheirs, &operation, &row, over: server,
                "Kept mine.",
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
            var result = proposed ?? mine ?? server.columns ?? Columns()
            result.merge(respelled)
            try send(result, &operation, &row, over: server, "Kept an edit.", before: row.visible)
        case .server:
            try discarding.giveUp(
                &operation, &row, for: server, by: .person, reason: "Kept the server's.",
                kind: .resolved)
        case .both:
            return try keepBoth(mine, &operation, &row, table, server)
        }
        return try actions.emitDone(operation)
    }

    /// Sets the item's columns, or deletes the item if `columns` is nil. Rewrites the operation so that it
    /// changes the backend's row to that state.
    private func send(
        _ columns: Columns?, _ operation: inout TableOperation, _ row: inout ItemRow,
        over server: ServerSide, _ summary: String, before: Columns?
    ) throws {
        let successors = try queue.successors(of: operation.seq)
        let point = UndoPoint(operation, row, server, isFollowed: !successors.isEmpty)
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
            .resolved, actor: .person, operation, before: before, after: columns,
            summary: summary, point: point)
    }

    private func keepBoth(
        _ mine: Columns?, _ operation: inout TableOperation, _ row: inout ItemRow,
        _ table: TableRecord, _ server: ServerSide
    ) throws -> ActionOutcome {
        guard let mine else {
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

/// Holds back what a decision left to send, so that a person can undo it before it is sent.
///
/// 1. A held operation waits for a time (`not_before`), as after a `Retry-After`: no push that starts by
///    itself sends it earlier.
/// 2. It is sent earlier when a person asks for a sync, or when the page that offers the undo ends the hold.
/// 3. If that page is gone, the time passes. Nothing is lost.
struct DecisionHold: InTransaction {
    let transaction: Transaction

    /// Follows the reason of a held operation, and marks it.
    static let mark = "It is held back for a moment so that the decision can be undone."

    /// Holds an operation back, if it is queued.
    func hold(_ operation: inout TableOperation, seconds: Int) throws {
        guard operation.state == .queued else { return }
        operation.state = .waiting
        operation.reason = "\(operation.reason ?? "Decided.") \(Self.mark)"
        operation.nextAttemptAt = Instant(
            milliseconds: transaction.now.milliseconds + Int64(seconds) * 1000)
        try queue.save(&operation)
        try transaction.run(
            "UPDATE operations SET not_before = next_attempt_at WHERE seq = ?", [operation.seq])
    }

    /// The reason that an operation had before it was held; nil if it is not held.
    static func withoutMark(_ reason: String) -> String? {
        guard reason.hasSuffix(mark) else { return nil }
        return String(reason.dropLast(mark.count + 1))  // There is a blank before it.
    }

    /// The number of operations that are held now.
    func count() throws -> Int64 {
        // Only these few rows are read, however many wait.
        try transaction.integer(
            """
            SELECT count(*) FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL
              AND next_attempt_at BETWEEN ?1 AND ?1 + ?2 AND reason LIKE '%' || ?3
              AND table_id NOT IN \(TableWaits.pausedTables)
            """,
            [
                transaction.now.milliseconds, Int64(StoreLimits.holdSecondsMax) * 1000, Self.mark,
            ]) ?? 0
    }

    /// Ends every hold: what was held is queued.
    /// - Returns: the number of operations that were held.
    @discardableResult
    func end() throws -> Int {
        let held = try transaction.all(
            """
            SELECT \(TableOperation.stored.names) FROM operations INDEXED BY operations_timed
            JOIN tables ON tables.id = operations.table_id
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL
              AND state = 'waiting' AND reason LIKE '%' || ?
            """, [Self.mark], TableOperation.init)
        for var operation in held {
            operation.state = .queued
            operation.reason = operation.reason.flatMap(Self.withoutMark)
            operation.nextAttemptAt = nil
            try queue.save(&operation)
            events.emit(.operation, operation)
        }
        return held.count
    }
}

extension Store {
    /// Ends the time in which decisions can be undone before they are sent.
    /// - Returns: the number of operations that were held.
    public func sendDecisions() async throws(StoreError) -> Int {
        try await write { try DecisionHold(transaction: $0).end() }
    }
}
