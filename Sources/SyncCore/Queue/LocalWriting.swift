import Storage
public import TablesProtocol

struct LocalWriting: InTransaction {
    let transaction: Transaction

    /// Performs one local write: row, operation, base and history together. Nothing changes unless the
    /// outcome is one of the first four.
    func perform(_ write: LocalWrite, _ rules: WriteRules) throws -> WriteOutcome {
        guard rules.allows(write.table) else { return .tableNotAllowed }
        switch write.action {
        case .insert(let body): return try insert(body, write, rules)
        case .update(let id, let columns): return try change(id, .update, columns, write, rules)
        case .replace(let id, let columns): return try change(id, .replace, columns, write, rules)
        case .restore(let id, let columns): return try restore(id, .replace, columns, write, rules)
        case .patch(let id, let columns, deleted: true):
            return try changeAndDelete(id, columns, write, rules)
        case .patch(let id, let columns, deleted: false):
            return try undelete(id, columns, write, rules)
        case .delete(let id): return try change(id, .delete, Columns(), write, rules)
        case .undelete(let id): return try change(id, .undelete, Columns(), write, rules)
        }
    }

    private func insert(
        _ body: ItemBody, _ write: LocalWrite, _ rules: WriteRules
    ) throws -> WriteOutcome {
        let table = try tables.make(write.table)
        if body.id != nil, table.idKind == .integer {
            return .invalid("A value cannot be specified for property 'id'.")
        }
        // A number in the body is taken as a string's text, as the real servers' databases do.
        let given = body.id.map { ItemID(stored: $0.text, kind: table.idKind) }
        let id = try given ?? newID(in: table, write.generation)
        let found = try items.row(table, exactly: id)
        let chain = try queue.chain(of: found)
        if let found, !found.deleted || (chain.isEmpty && found.serverDeleted) {
            return .alreadyExists(found.item)
        }
        if let found, isTaken(by: chain, write, table) { return .alreadyExists(found.item) }
        if given != nil, let renamed = try liveItem(renamedFrom: id, in: table) {
            return .alreadyExists(renamed.item)
        }
        switch try tables.respell(written: body.columns, in: table) {
        case .refused(let sentence): return .invalid(sentence)
        case .taken(let columns):
            let edit = ItemEdit(
                table: table, row: found ?? ItemRow(new: id, tableID: table.id), chain: chain,
                kind: .insert, columns: columns, write: write, hasGeneratedID: body.id == nil)
            return try collapsing.apply(edit, rules)
        }
    }

    /// The item to which the backend gave another id than the one that was sent; nil if there is none, or it
    /// is deleted. A client that lost the answer to its insert sends the first id again.
    private func liveItem(renamedFrom id: ItemID, in table: TableRecord) throws -> ItemRow? {
        let renamed = try transaction.first(ItemRow.byAlias, [table.id, id.text]) {
            ItemRow($0, idKind: table.idKind)
        }
        return renamed.flatMap { $0.deleted ? nil : $0 }
    }

    /// Whether a client may not insert an id whose delete waits to be sent. The real servers refuse such an
    /// insert if the table deletes softly. If that is not known, the insert restores the item.
    private func isTaken(
        by chain: [TableOperation], _ write: LocalWrite, _ table: TableRecord
    ) -> Bool {
        guard write.actor.isClient, chain.last?.kind == .delete else { return false }
        return table.deletion == .soft
    }

    private func newID(in table: TableRecord, _ generation: Generation) throws -> ItemID {
        switch table.idKind {
        case .string: transaction.ids.itemID(for: generation)
        case .integer: try counters.nextProvisionalID(table.id)
        }
    }

    /// Undeletes an item that is deleted on the backend, then changes it: for the backend these are two
    /// requests. The outcome has the operation of the first one. An item that is not deleted, or whose delete
    /// was not sent yet, is only changed.
    private func restore(
        _ id: ItemID, _ kind: OperationKind, _ columns: Columns, _ write: LocalWrite,
        _ rules: WriteRules
    ) throws -> WriteOutcome {
        guard let row = try known(id, in: write.table), row.deleted,
            try queue.chain(of: row).last?.kind != .delete
        else { return try change(id, kind, columns, write, rules) }
        let undeleted = try change(id, .undelete, Columns(), write, rules)
        guard case .undeleted(_, let first) = undeleted else { return undeleted }
        let changed = try change(id, kind, columns, write.judged, rules)
        guard case .updated(let item, let second) = changed else { return changed }
        return .updated(item, first?.isOwn == true ? first : second)
    }

    /// Undeletes an item, and changes it if there are columns.
    private func undelete(
        _ id: ItemID, _ columns: Columns, _ write: LocalWrite, _ rules: WriteRules
    ) throws -> WriteOutcome {
        guard columns.isEmpty else { return try restore(id, .update, columns, write, rules) }
        let undeleted = try change(id, .undelete, columns, write, rules)
        guard case .undeleted(let item, let operation) = undeleted else { return undeleted }
        return .updated(item, operation)
    }

    /// Changes an item and deletes it. If these are two operations, the outcome has the first one. An item
    /// that is already deleted is gone.
    private func changeAndDelete(
        _ id: ItemID, _ columns: Columns, _ write: LocalWrite, _ rules: WriteRules
    ) throws -> WriteOutcome {
        if let row = try known(id, in: write.table), row.deleted {
            return .gone(row.item)
        }
        var write = write
        var first: WrittenOperation?
        if !columns.isEmpty {
            let updated = try change(id, .update, columns, write, rules)
            guard case .updated(_, let operation) = updated else { return updated }
            first = operation
            write = write.judged
        }
        let deleted = try change(id, .delete, Columns(), write, rules)
        guard case .deleted(let item, let second) = deleted else { return deleted }
        return .updated(item, first?.isOwn == true ? first : second)
    }

    /// The row of an item, or its tombstone; nil if the store knows nothing of it. Of a row that has left the
    /// part of its table, nothing is known.
    private func known(_ id: ItemID, in name: TableName) throws -> ItemRow? {
        guard let table = try tables.table(name), let row = try items.row(table, id) else {
            return nil
        }
        return table.part != nil && row.mayHaveLeft ? nil : row
    }

    private func change(
        _ id: ItemID, _ kind: OperationKind, _ columns: Columns, _ write: LocalWrite,
        _ rules: WriteRules
    ) throws -> WriteOutcome {
        guard let table = try tables.table(write.table) else { return .unknownWhilePartial }
        guard let row = try known(id, in: write.table) else {
            return table.isWholeHere ? .missing : .unknownWhilePartial
        }
        let chain = try queue.chain(of: row)
        let earlier = write.earlierWrite(of: row, in: table)
        if let sentence = write.stated.contradiction(to: row, after: earlier) {
            return .invalid(sentence)
        }
        if row.deleted, kind != .undelete, chain.last?.kind != .delete { return .gone(row.item) }
        // A repeated delete gets the answer of the first one, whatever version it names.
        let holds = write.holds(for: row, in: table)
        if !(row.deleted && kind == .delete), !holds,
            earlier.map({ !write.holds(for: row, in: table, after: $0) }) ?? true
        {
            return .preconditionFailed(row.item)
        }
        if kind == .undelete, chain.isEmpty, write.actor.isClient, row.isGone(from: table) {
            return .missing
        }
        if !row.deleted, kind == .undelete {
            try ledger.countCollapsedWrite()
            return .undeleted(row.item, WrittenOperation(lastOf: chain))
        }
        switch try tables.respell(written: columns, in: table) {
        case .refused(let sentence): return .invalid(sentence)
        case .taken(var columns):
            if kind == .replace {
                columns = columns.filled(from: row.columns.hidden(in: write.generation))
                // The client knows the row without the columns that the backend set since.
                if !holds, let earlier {
                    columns = columns.filled(from: row.columns.picking(earlier.unseen))
                }
            }
            return try collapsing.apply(
                ItemEdit(
                    table: table, row: row, chain: chain, kind: kind, columns: columns, write: write
                ), rules)
        }
    }
}

extension Columns {
    /// The user's columns that a client of a generation cannot see or write, because the generation has
    /// system properties of the same names. A replacement keeps them.
    fileprivate func hidden(in generation: Generation) -> Columns {
        Columns(all.filter { SystemProperty(named: $0.name, in: generation) != nil })
    }
}

/// An item's sync state, for a client that waits for the backend's verdict on its write.
public struct ItemStanding: Sendable, Hashable {
    public var item: Item
    /// The item's first open operation; nil if the backend has the item as it is here.
    public var operation: OperationSummary?
    /// The operation that contains the client's write, open or closed; nil if there was none.
    public var own: OperationSummary?
    /// The backend's last known item; nil if it has none or none is known.
    public var server: Item?
    /// The sentence with which the backend refused the first open operation; nil if it has not, or gave none.
    public var refusal: String?
}

extension Store {
    /// An item's sync state after a client's write; nil if the store has no such item.
    /// - Parameter own: the operation that contains the write (``WriteOutcome/operation``).
    public func standing(
        _ name: TableName, _ id: ItemID, own: OperationID?
    ) async throws(StoreError) -> ItemStanding? {
        try await read { transaction in
            // The operation knows the item's id also where the one that the client was given is another's.
            let written = try own.flatMap { try transaction.queue.operation(id: $0) }
            guard let table = try transaction.tables.table(name),
                let row = try transaction.items.row(table, written?.itemID ?? id)
            else { return nil }
            let operation = try row.pending.flatMap { try transaction.queue.operation(seq: $0) }
            var server: Item?
            if operation == nil {
                server = row.known == nil ? nil : row.item
            } else if let columns = row.shadow, let version = row.serverVersion {
                server = Item(
                    id: row.id, columns: columns, createdAt: row.item.createdAt,
                    updatedAt: row.serverUpdatedAt.flatMap { Instant(iso: $0) }
                        ?? row.item.updatedAt,
                    version: version, deleted: row.serverDeleted)
            }
            let isRefused = operation?.state == .quarantined
            let last = isRefused ? try operation.flatMap(transaction.attempts.lastWrite) : nil
            return ItemStanding(
                item: row.item, operation: operation?.summary(identity: transaction.identity),
                own: written?.summary(identity: transaction.identity), server: server,
                refusal: last?.message ?? operation?.reason)
        }
    }
}

extension Store {
    /// Discards a refused operation before the client that waits for the verdict is told of the refusal.
    /// - Parameters:
    ///   - isWaiting: whether the operation waits to be sent again, and is known to have no effect.
    ///   - earlierVersion: see ``WrittenOperation/earlierVersion``. The item has it again if it is as it was.
    /// - Returns: whether it is discarded, by this call or before it; false if it may have taken effect,
    ///   contains more than that client's write, or has another operation of the item before or after it.
    public func withdraw(
        _ id: OperationID, isWaiting: Bool, earlierVersion: String? = nil
    ) async throws(StoreError) -> Bool {
        try await commitInGroup {
            try Discarding(transaction: $0).withdraw(id, isWaiting: isWaiting, earlierVersion)
        }
    }

    /// Whether a table has open operations. If so, a list of the backend lacks these changes.
    public func hasOpenChanges(in table: TableName) async throws(StoreError) -> Bool {
        try await read { transaction in
            guard let record = try transaction.tables.table(table) else { return false }
            return try transaction.integer(
                "SELECT 1 FROM operations WHERE table_id = ? AND closed_at IS NULL LIMIT 1",
                [record.id]) != nil
        }
    }

    /// Whether any change may be sent now, or is on its way.
    public func hasDueChanges() async throws(StoreError) -> Bool {
        try await read { transaction in
            let isSent = try transaction.attempts.hasSending()
            return try isSent || transaction.dueOperations.hasQueued()
        }
    }

    /// The items of a table that have open operations, of the ids that are named, and whether any item of the
    /// table has some.
    public func waitingChanges(
        of ids: [ItemID], in name: TableName
    ) async throws(StoreError) -> (items: [ItemID: Item], areSome: Bool) {
        guard try await hasOpenChanges(in: name) else { return ([:], false) }
        return try await read { transaction in
            var items: [ItemID: Item] = [:]
            guard let table = try transaction.tables.table(name) else { return (items, false) }
            for id in ids {
                guard let row = try transaction.items.row(table, exactly: id), row.pending != nil
                else { continue }
                items[id] = row.item
            }
            return (items, true)
        }
    }

    /// Counts a write that the backend answered directly, without an operation.
    public func countForwardedWrite() async throws(StoreError) {
        try await write { try $0.ledger.count(["accepted", "done"]) }
    }

    /// Makes a table, before its first local write, whose ids the backend was seen to assign.
    public func noteIntegerIDs(of table: TableName) async throws(StoreError) {
        try await write { transaction in
            var record = try transaction.tables.make(table, idKind: .integer)
            try IDKinds(transaction: transaction).adoptIntegerIDs(&record)
        }
    }
}
