public import TablesProtocol

/// An item's sync state, for a client that waits for the backend's verdict on its write.
public struct ItemStanding: Sendable, Hashable {
    /// The local item.
    public var item: Item
    /// The item's first open operation; nil if the backend has the item as it is here.
    public var operation: OperationSummary?
    /// The operation that contains the client's write, open or closed; nil if there was none.
    public var own: OperationSummary?
    /// The backend's last known item; nil if it has none or none is known.
    public var server: Item?
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
            return ItemStanding(
                item: row.item, operation: operation?.summary(identity: transaction.identity),
                own: written?.summary(identity: transaction.identity), server: server)
        }
    }
}

extension Store {
    /// Discards a refused operation before the client that waits for the verdict is told of the refusal.
    /// - Returns: whether it is discarded, by this call or before it; false if it may have taken effect,
    ///   contains more than that client's write, or has another operation of the item before or after it.
    public func withdraw(_ id: OperationID) async throws(StoreError) -> Bool {
        try await write { try Discarding(transaction: $0).withdraw(id) }
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
