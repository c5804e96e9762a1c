import TablesProtocol

/// The conflicts, each with its three versions.
struct ConflictList {
    let transaction: Transaction
    private var items: ItemTable { transaction.items }
    private var tables: TableRecords { transaction.tables }
    private var lists: OperationLists { OperationLists(transaction: transaction) }

    /// A conflict with its rows; nil when the operation is in none.
    func detail(_ operation: TableOperation) throws -> ConflictDetail? {
        guard operation.state == .conflict, let table = try tables.table(id: operation.tableID),
            let row = try items.row(table, exactly: operation.itemID)
        else { return nil }
        let server = ServerSide(shadowOf: row)
        let bothLive = server.isLive && !row.deleted
        let (base, theirs) = (operation.baseRow ?? Columns(), server.columns ?? Columns())
        let merge = ThreeWayMerge(base: base, mine: row.columns, theirs: theirs)
        return ConflictDetail(
            id: operation.id, identity: transaction.identity, table: operation.table.text,
            itemID: operation.itemID.text, revision: operation.revision, kind: operation.kind,
            title: operation.title, reason: operation.reason, base: operation.baseRow?.json,
            mine: row.visible?.json, server: server.columns?.json,
            serverDeleted: !server.isLive, mineDeleted: row.deleted,
            fields: bothLive
                ? ConflictDetail.Field.all(base: base, mine: row.columns, server: theirs) : [],
            proposed: bothLive ? merge.proposed.json : nil,
            since: operation.lastAttemptAt ?? operation.createdAt)
    }

    /// A page of conflicts, oldest first.
    func page(after: Int64, limit: Int) throws -> Page<ConflictDetail> {
        let page = try lists.page(
            OperationFilter(states: [.conflict]), after: after, limit: limit)
        return Page(
            items: try page.items.compactMap(detail), next: page.next, total: page.total)
    }
}
