public import TablesProtocol

/// How an item stands with the backend, for a client that waits for its verdict.
public struct ItemStanding: Sendable, Hashable {
    /// The item as it is here.
    public var item: Item
    /// The first of its operations that is still open; nil when the backend has it as it is here.
    public var operation: OperationSummary?
    /// The item as the backend last showed it; nil when it has none or nobody knows.
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
