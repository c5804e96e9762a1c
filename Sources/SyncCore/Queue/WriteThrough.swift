public import TablesProtocol

/// How an item stands with the backend, for a client that waits for its verdict.
public struct ItemStanding: Sendable, Hashable {
    /// The item as it is here.
    public var item: Item
    /// The first of its operations that is still open; nil when the backend has it as it is here.
    public var operation: OperationSummary?
    /// The item as the backend last showed it; nil when it has none or that is not known.
    public var server: Item?
}

extension Store {
    /// How an item stands with the backend; nil when it is not here.
    public func standing(
        _ name: TableName, _ id: ItemID
    ) async throws(StoreError) -> ItemStanding? {
        try await read { transaction in
            guard let table = try transaction.tables.table(name),
                let row = try transaction.items.row(table, id)
            else { return nil }
            let operation = try row.pending.flatMap { try transaction.queue.operation(seq: $0) }
            var server: Item?
            if operation != nil, let columns = row.shadow, let version = row.serverVersion {
                server = Item(
                    id: row.id, columns: columns, createdAt: row.item.createdAt,
                    updatedAt: row.serverUpdatedAt.flatMap { Instant(iso: $0) }
                        ?? row.item.updatedAt,
                    version: version, deleted: row.serverDeleted)
            }
            return ItemStanding(
                item: row.item, operation: operation?.summary(identity: transaction.identity),
                server: server)
        }
    }
}

extension Store {
    /// Gives up an operation that the backend refuses, before the client that waits for its verdict is
    /// told so. Returns whether it was; false where more than the client's one write is at stake.
    public func withdraw(_ id: OperationID) async throws(StoreError) -> Bool {
        try await write { try Discarding(transaction: $0).withdraw(id) }
    }

    /// Whether changes of a table wait to be sent: a list that the backend gives lacks them.
    public func hasOpenChanges(in table: TableName) async throws(StoreError) -> Bool {
        try await read { transaction in
            guard let record = try transaction.tables.table(table) else { return false }
            return try transaction.integer(
                "SELECT 1 FROM operations WHERE table_id = ? AND closed_at IS NULL LIMIT 1",
                [record.id]) != nil
        }
    }

    /// Counts a write that the backend itself answered, without an operation.
    public func countSentThrough() async throws(StoreError) {
        try await write { try $0.ledger.count(["accepted", "done"]) }
    }

    /// Makes a table whose ids the backend was seen to assign, before a client writes to it.
    public func noteIntegerIDs(of table: TableName) async throws(StoreError) {
        try await write { transaction in
            var record = try transaction.tables.make(table, idKind: .integer)
            try IDKinds(transaction: transaction).adoptIntegerIDs(&record)
        }
    }
}
