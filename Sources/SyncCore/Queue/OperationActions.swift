import Storage
public import TablesProtocol

/// The outcome of an operator's action.
public enum ActionOutcome: Sendable, Hashable {
    /// Done, with the operation as it is now; nil if there is none.
    case done(OperationSummary?)
    /// The operation has changed since the operator saw it: decide again.
    case changed(current: OperationSummary)
    /// There is no such operation or entry.
    case notFound
    /// The action is not possible in the operation's state, for this reason.
    case refused(reason: String)
}

struct OperationActions: InTransaction {
    let transaction: Transaction

    /// The operation of an action, or why the action cannot be done.
    enum Found {
        case operation(TableOperation, TableRecord, ItemRow)
        case outcome(ActionOutcome)

        /// Why the action cannot be done.
        var refusal: ActionOutcome {
            switch self {
            case .outcome(let outcome): outcome
            case .operation: .notFound
            }
        }
    }

    /// Finds an open operation and checks that it has the revision that the person saw.
    func find(_ id: OperationID, revision: Int?) throws -> Found {
        guard let operation = try queue.operation(id: id) else { return .outcome(.notFound) }
        guard let table = try tables.table(id: operation.tableID),
            let row = try items.row(table, exactly: operation.itemID)
        else { return .outcome(.notFound) }
        let isSame = revision.map { $0 == operation.revision } ?? true
        guard isSame, operation.state.isOpen else {
            return .outcome(.changed(current: operation.summary(identity: transaction.identity)))
        }
        return .operation(operation, table, row)
    }

    /// Makes an operation due now. One that may have taken effect is still read back first.
    func retry(_ id: OperationID, revision: Int?) throws -> ActionOutcome {
        let found = try find(id, revision: revision)
        guard case .operation(var operation, _, _) = found else { return found.refusal }
        try transaction.tableWaits.makeAllDue(of: operation.table)
        switch operation.state {
        case .sending: return .refused(reason: "It is being sent.")
        case .conflict: return .refused(reason: "The conflict has to be decided first.")
        case .queued: return .done(operation.summary(identity: transaction.identity))
        case .waiting, .unknown, .quarantined, .done, .discarded, .collapsed: break
        }
        operation.state = operation.maybeApplied ? .unknown : .queued
        operation.reason = Self.reason(ofRetried: operation)
        // Its dependencies are checked again before it is sent.
        operation.waitsFor = nil
        operation.nextAttemptAt = operation.maybeApplied ? transaction.now : nil
        try queue.save(&operation)
        try history.record(.retried, actor: .person, operation, summary: "Tried again.")
        return try emitDone(operation)
    }

    /// The reason of an operation that is tried again: its real one stays beside who tries it.
    private static func reason(ofRetried operation: TableOperation) -> String? {
        guard let reason = operation.reason, !reason.hasPrefix(byPerson) else {
            return operation.reason ?? byPerson
        }
        if let decided = DecisionHold.withoutMark(reason) { return decided }
        return "\(byPerson) Before: \(reason)"
    }
    private static let byPerson = "Tried again by a person."

    /// Sets columns of the item and sends them with the operation. A refused operation is due again.
    func edit(_ id: OperationID, revision: Int, _ columns: Columns) throws -> ActionOutcome {
        let found = try find(id, revision: revision)
        guard case .operation(let operation, let table, let row) = found else {
            return found.refusal
        }
        if operation.takesNoChange {
            return .refused(
                reason: operation.state == .quarantined
                    ? "It may have reached the backend, under an id that is not known here. Retry or discard it."
                    : "It may have reached the backend. Edit the item: the change will follow.")
        }
        if row.deleted { return .refused(reason: "A delete has nothing to edit.") }
        let chain = try queue.chain(of: row)
        guard chain.last?.seq == operation.seq else {
            return .refused(reason: "A later change of the same item follows it: edit that one.")
        }
        let respelled: Columns
        switch try tables.respell(written: columns, in: table) {
        case .refused(let sentence): return .refused(reason: sentence)
        case .taken(let columns): respelled = columns
        }
        let write = LocalWrite(
            table: table.name, action: .update(row.id, columns),
            generation: operation.generation, parameters: operation.parameters,
            headers: operation.headers, actor: .person)
        let edit = ItemEdit(
            table: table, row: row, chain: chain, kind: .update,
            columns: respelled, write: write)
        _ = try collapsing.apply(edit, WriteRules(keepsPlace: true))
        return try emitDone(operation)
    }

    /// Emits the events of a changed operation.
    /// - Returns: `done` with the operation as it is now.
    func emitDone(_ operation: TableOperation) throws -> ActionOutcome {
        events.emit(.operation, operation)
        events.emit(.item, operation)
        return .done(
            try queue.operation(seq: operation.seq)?.summary(identity: transaction.identity))
    }
}

// A person's actions, each in one transaction. An action names the revision that the person saw. If the
// operation has another revision by now, the outcome is `changed`.
extension Store {
    public func retry(
        _ id: OperationID, revision: Int? = nil
    ) async throws(StoreError) -> ActionOutcome {
        try await write { try OperationActions(transaction: $0).retry(id, revision: revision) }
    }

    /// Discards an operation. The item becomes the last known row of the backend, or what the operation
    /// before this one leaves.
    public func discard(
        _ id: OperationID, revision: Int? = nil
    ) async throws(StoreError) -> ActionOutcome {
        try await write { try Discarding(transaction: $0).discard(id, revision: revision) }
    }

    /// Sets columns of the operation's item and sends them with the operation.
    public func edit(
        _ id: OperationID, revision: Int, columns: Columns
    ) async throws(StoreError) -> ActionOutcome {
        try await write {
            try OperationActions(transaction: $0).edit(id, revision: revision, columns)
        }
    }

    /// Applies a person's decision about a conflict.
    /// - Parameter holdSeconds: for how long what is left to send is held back, so that the decision can be
    ///   undone before it is sent.
    public func resolve(
        _ id: OperationID, revision: Int, _ resolution: Resolution, holdSeconds: Int = 0
    ) async throws(StoreError) -> ActionOutcome {
        try await write {
            try Resolving(transaction: $0, holdSeconds: holdSeconds).resolve(
                id, revision: revision, resolution)
        }
    }
}

/// What a bulk action does to each operation that matches a filter.
public enum BulkAction: Sendable, Hashable {
    case retry, discard
    /// Decides each conflict, and holds back for so long what is left to send. Operations in other states do
    /// not match.
    case resolve(Resolution, holdSeconds: Int = 0)

    func selection(of filter: OperationFilter) -> OperationFilter {
        guard case .resolve = self else { return filter }
        var conflicts = filter
        conflicts.states = [.conflict]
        return conflicts
    }

    func perform(on id: OperationID, in transaction: Transaction) throws -> ActionOutcome {
        switch self {
        case .retry: return try OperationActions(transaction: transaction).retry(id, revision: nil)
        case .discard: return try Discarding(transaction: transaction).discard(id, revision: nil)
        case .resolve(let resolution, let holdSeconds):
            guard let operation = try transaction.queue.operation(id: id) else { return .notFound }
            return try Resolving(transaction: transaction, holdSeconds: holdSeconds).resolve(
                id, revision: operation.revision, resolution)
        }
    }
}

/// What became of an action on all operations that match.
public struct BulkResult: PartialAnswer, Sendable, Hashable {
    public var matched: Int
    /// Operations it was done to; 0 in a dry run.
    public var changed: Int
    /// Operations it cannot be done to.
    public var refused: Int
    public var dryRun: Bool
    /// With `limit`: the operations it was done to.
    public var operations: [OperationID]?
    /// With `limit`: pass it as `after` for the next part; null at the end.
    public var next: String??

    /// Makes the result of an action that was done at once, or counted.
    public init(matched: Int, changed: Int = 0, refused: Int = 0, dryRun: Bool = false) {
        (self.matched, self.changed, self.refused) = (matched, changed, refused)
        self.dryRun = dryRun
    }
}

extension Store {
    /// Applies the action to every matching operation, in transactions of at most
    /// ``StoreLimits/groupWrites`` operations. The latest go first, so that a successor is discarded before
    /// its predecessor. An operation to which it cannot be done, such as a delete that is to be merged, stays
    /// and is counted.
    public func bulk(
        _ action: BulkAction, _ filter: OperationFilter, dryRun: Bool
    ) async throws(StoreError) -> BulkResult {
        let filter = action.selection(of: filter)
        let ids = try await read { try OperationLists(transaction: $0).ids(filter) }
        var outcome = BulkResult(matched: ids.count, dryRun: dryRun)
        if dryRun { return outcome }
        var rest = ids[...]
        while !rest.isEmpty {
            let batch = rest.prefix(StoreLimits.groupWrites)
            rest = rest.dropFirst(batch.count)
            let done = try await write { transaction in
                try batch.count { try action.perform(on: $0, in: transaction).isDone }
            }
            outcome.changed += done
            outcome.refused += batch.count - done
        }
        return outcome
    }
}

// Bulk actions in parts, so that a person can watch the progress, stop, and undo.
extension Store {
    /// Applies the action to the next matching operations, latest first, in one transaction. An operation
    /// to which it cannot be done, such as a delete that is to be merged, stays and is counted.
    /// - Parameters:
    ///   - after: `next` of the previous part; nil for the first part.
    ///   - limit: the most operations in the part, 1 to ``StoreLimits/groupWrites``.
    public func bulkPart(
        _ action: BulkAction, _ filter: OperationFilter, after: String?, limit: Int
    ) async throws(StoreError) -> BulkResult {
        let filter = action.selection(of: filter)
        let limit = min(max(limit, 1), StoreLimits.groupWrites)
        let before = after.flatMap(Cursor.number) ?? .max
        let found = try await search {
            try OperationLists(transaction: $0).latest(filter, before: before, limit: limit + 1)
        }
        let part = found.prefix(limit)
        let done = try await write { transaction in
            try part.map(\.id).filter { try action.perform(on: $0, in: transaction).isDone }
        }
        var result = BulkResult(
            matched: part.count, changed: done.count, refused: part.count - done.count)
        result.operations = done
        result.next = .some(found.count > limit ? part.last.map { Cursor.text($0.seq) } : nil)
        return result
    }
}

extension ActionOutcome {
    var isDone: Bool { if case .done = self { true } else { false } }
}
