import Storage
import TablesProtocol

/// The rows of all tables, and the earlier ids of some: `items` and `aliases`.
struct ItemTable: InTransaction {
    let transaction: Transaction

    /// A row by the exact id.
    func row(_ table: TableRecord, exactly id: ItemID) throws -> ItemRow? {
        try transaction.first(ItemRow.byID, [table.id, id.text]) {
            ItemRow($0, idKind: table.idKind)
        }
    }

    /// A row by its id: exact, else by the id that the backend gave instead of it, else the only one
    /// that differs in case alone. A tombstone gives way to the item that it became.
    func row(_ table: TableRecord, _ id: ItemID) throws -> ItemRow? {
        let exact = try row(table, exactly: id)
        if let exact, !exact.deleted || exact.pending != nil { return exact }
        let renamed = try transaction.first(ItemRow.byAlias, [table.id, id.text]) {
            ItemRow($0, idKind: table.idKind)
        }
        return try renamed ?? exact ?? row(table, inAnyCase: id)
    }

    /// The only row whose id differs from this one in case alone. A tombstone gives way to an item.
    func row(_ table: TableRecord, inAnyCase id: ItemID) throws -> ItemRow? {
        guard table.idKind == .string else { return nil }
        let rows = try transaction.all(ItemRow.byIDInAnyCase, [table.id, id.text]) {
            ItemRow($0, idKind: table.idKind)
        }
        let living = rows.filter { !$0.deleted || $0.pending != nil }
        return living.count == 1 ? living[0] : rows.count == 1 ? rows[0] : nil
    }

    /// The id under which the backend has an item that may not be here: the one that it gave in place of an
    /// earlier id, else the same.
    func presentID(_ table: TableRecord, _ id: ItemID) throws -> ItemID {
        if let row = try row(table, id), !row.deleted { return row.id }
        let given = try transaction.first(
            "SELECT id FROM aliases WHERE table_id = ? AND alias = ?", [table.id, id.text]
        ) { ItemID(stored: $0[0], kind: table.idKind) }
        return given ?? id
    }

    /// The first open operation of an operation's item, by `seq`; nil if there is none.
    func pending(of operation: TableOperation) throws -> Int64? {
        try transaction.integer(
            "SELECT pending FROM items WHERE table_id = ? AND id = ?",
            [operation.tableID, operation.itemID.text])
    }

    /// Writes a row as it is; gives it its row id when it is new.
    func save(_ row: inout ItemRow) throws {
        row.replaced = row.replaced.recent(at: transaction.now)
        if row.rowID != nil { return try transaction.update(row) }
        try transaction.insert(row)
        row.rowID = transaction.db.insertedRowID
    }

    /// Whether an update that is due is sent before a change of a kind that follows it: a delete, where the
    /// backend keeps deleted rows, or the operator's setting says so. Otherwise the update is merged into it.
    func sendsUpdateFirst(_ table: TableRecord, before kind: OperationKind) -> Bool {
        guard kind == .delete else { return false }
        return table.deletion == .soft || table.preservesHistory
    }

    /// Gives a changed row its stamp and version and writes it.
    ///
    /// Both are the store's own and change together, with what a client can see of the row: a push
    /// that the backend took as it was, and a pulled row with nothing new in it, are invisible. Such a
    /// row has the columns that it had, also where the backend writes null for a further one, and the
    /// backend's texts of their values: `1.1` for `1.10`.
    ///
    /// - Parameter isOwnAnswer: whether the change comes from the backend's answer to our own write, so that no
    ///   other writer has made it (``OwnWrite``).
    func restamp(
        _ row: inout ItemRow, from before: ItemRow, isOwnAnswer: Bool = false
    ) throws {
        let isTurned = before.rowID == nil || before.deleted != row.deleted
        let changed = isTurned ? [] : row.columns.changedNames(from: before.columns)
        let isVisible = isTurned || !changed.isEmpty
        if isVisible {
            let own = isTurned ? nil : row.ownWrite
            row.ownWrite = own?.after(
                changed, of: before.columns, to: row.columns, isOwnAnswer: isOwnAnswer)
            row.version = transaction.ids.version()
            row.stamp = try counters.nextStamp(row.tableID)
        } else {
            row.columns = before.columns.written(as: row.columns)
        }
        try save(&row)
    }

    /// Whether the item had another id before, so that its row is that of an insert of this store.
    func hasEarlierID(_ id: ItemID, _ table: TableRecord) throws -> Bool {
        try transaction.integer(
            "SELECT 1 FROM aliases WHERE table_id = ? AND id = ? LIMIT 1", [table.id, id.text])
            != nil
    }

    /// Removes an item that has no local changes.
    /// - Parameter leavingTombstone: whether clients that sync against this store are to learn of
    ///   it; a purge leaves nothing.
    /// - Returns: whether there was such an item.
    @discardableResult
    func remove(
        _ id: ItemID, from table: TableRecord, leavingTombstone: Bool
    ) throws -> Bool {
        guard var row = try row(table, exactly: id), row.pending == nil else { return false }
        guard leavingTombstone else {
            try transaction.run("DELETE FROM items WHERE rowid = ?", [row.rowID])
            return true
        }
        if row.deleted { return false }
        let before = row
        row.deleted = true
        row.serverVersion = nil
        row.serverUpdatedAt = nil
        row.serverCreatedAt = nil
        row.serverDeleted = false
        row.deletedAfter = nil
        // The backend had the item, so bringing it back does not insert a new one.
        row.settledAt = try counters.nextChange()
        try restamp(&row, from: before)
        return true
    }
}

extension ItemRow {
    /// The versions under which a client may know the item as it is: the store's own, and the backend's
    /// while nothing was changed here.
    var knownVersions: [String] {
        guard pending == nil, let serverVersion else { return [version] }
        return [version, serverVersion]
    }
}
