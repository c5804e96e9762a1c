import TablesProtocol

/// Gives items the ids that the backend assigned.
struct AssignedIDs {
    let transaction: Transaction
    private var counters: StoreCounters { transaction.counters }
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var tables: TableRecords { transaction.tables }

    /// Gives an item, and what is open of it, the id that the backend assigned to its insert.
    ///
    /// 1. Row and operations take the id; the old one is an alias that keeps answering.
    /// 2. Under the old id a tombstone stays for clients with stores of their own, or the backend's row,
    ///    where another item of the backend has that id.
    /// 3. Items of other tables that name it by a declared column name the new id.
    ///
    /// - Returns: false when an item with local changes has that id already; nothing is changed.
    func remap(_ operation: TableOperation, to id: ItemID, _ table: TableRecord) throws -> Bool {
        if let other = try items.row(table, exactly: id) {
            guard other.pending == nil else { return false }
            try transaction.run("DELETE FROM items WHERE rowid = ?", [other.rowID])
        }
        let old = operation.itemID
        let row = try items.row(table, exactly: old)
        try transaction.run(
            "UPDATE items SET id = ?3, stamp = ?4, version = ?5 WHERE table_id = ?1 AND id = ?2",
            [
                table.id, old.text, id.text, try counters.nextStamp(table.id),
                transaction.ids.version(),
            ])
        for seq in [operation.seq] + (try queue.successors(of: operation.seq)).map(\.seq) {
            try transaction.run("UPDATE operations SET item_id = ? WHERE seq = ?", [id.text, seq])
        }
        // An earlier alias of the same item leads to where it is now.
        try transaction.run(
            "UPDATE aliases SET id = ?3 WHERE table_id = ?1 AND id = ?2",
            [table.id, old.text, id.text])
        try transaction.run(
            "INSERT OR REPLACE INTO aliases(table_id, alias, id) VALUES (?, ?, ?)",
            [table.id, old.text, id.text])
        if let row, row.shadow != nil, !row.serverDeleted {
            try split(row, from: id)
        } else if let row {
            try leaveTombstone(of: row)
        }
        for child in try tables.all() {
            for link in child.parents where link.table == table.name {
                try rename(old, to: id, in: link.column, of: child)
            }
        }
        return true
    }

    /// Gives the backend's row under an id back, where the item that stood over it got another id.
    private func split(_ row: ItemRow, from id: ItemID) throws {
        try transaction.run(
            """
            UPDATE items SET shadow_columns = NULL, server_version = NULL, server_updated_at = NULL,
              server_deleted = 0 WHERE table_id = ? AND id = ?
            """, [row.tableID, id.text])
        var theirs = ItemRow(new: row.id, tableID: row.tableID)
        theirs.columns = row.shadow ?? Columns()
        theirs.serverVersion = row.serverVersion
        theirs.serverUpdatedAt = row.serverUpdatedAt
        theirs.createdAt = transaction.now.milliseconds
        try items.restamp(&theirs, from: theirs)
    }

    private func leaveTombstone(of row: ItemRow) throws {
        var tombstone = ItemRow(new: row.id, tableID: row.tableID)
        tombstone.columns = row.columns
        tombstone.createdAt = row.createdAt
        tombstone.deleted = true
        try items.restamp(&tombstone, from: tombstone)
    }

    /// Only items with open operations can name an id that the backend never had.
    private func rename(
        _ old: ItemID, to new: ItemID, in column: String, of table: TableRecord
    ) throws {
        let seqs: [Int64] = try transaction.column(
            "SELECT pending FROM items WHERE table_id = ? AND pending IS NOT NULL", [table.id])
        for seq in seqs {
            guard let head = try queue.operation(seq: seq),
                var row = try items.row(table, exactly: head.itemID)
            else { continue }
            for var operation in [head] + (try queue.successors(of: seq)) {
                guard operation.rename(old, to: new, in: column) else { continue }
                try queue.save(&operation)
            }
            let before = row
            if row.columns.rename(old, to: new, in: column) {
                try items.restamp(&row, from: before)
            }
        }
    }
}

extension TableOperation {
    /// Makes a column that names an item name it by its new id; false when it names another.
    fileprivate mutating func rename(_ old: ItemID, to new: ItemID, in column: String) -> Bool {
        let isInPayload = payload?.rename(old, to: new, in: column) ?? false
        let isInBase = baseRow?.rename(old, to: new, in: column) ?? false
        return isInPayload || isInBase
    }
}

extension Columns {
    /// Whether a column's value is the id of this item, as text or number.
    func names(_ id: ItemID, in column: String) -> Bool {
        let value = value(column)
        return value.string.map { $0.utf8.elementsEqual(id.text.utf8) } ?? (value.text == id.text)
    }

    fileprivate mutating func rename(_ old: ItemID, to new: ItemID, in column: String) -> Bool {
        guard names(old, in: column),
            let name = all.first(where: { $0.name.lowercased() == column.lowercased() })?.name
        else { return false }
        let isText = self[name]?.string != nil
        self[name] = isText ? .string(new.text) : new.json
        return true
    }
}
