import Storage
import TablesProtocol

/// Replaces item ids by those that the backend assigned.
struct AssignedIDs: InTransaction {
    let transaction: Transaction

    /// Takes the id of the row with which the backend answered an insert.
    ///
    /// A backend that assigns integers gives the id of a row that is gone again, so its answer is the verdict:
    /// an item that is here under the id loses it (``giveAway(_:_:)``). If it is the inserted row itself,
    /// which came before the answer and was changed since, its operations follow the insert.
    ///
    /// A row whose id differs in spelling alone is the item's own. The operations of an item that is here under
    /// that spelling follow.
    ///
    /// No backend gives another text id again. An item that is here already under a text id is the inserted row if a
    /// pull brought it after the insert was written, it shows everything that was sent, and no other insert has
    /// it. Every other item is another writer's: an alias would hide the insert and send later changes to that
    /// item.
    ///
    /// - Returns: false if the backend answered with another item, or with the item's own while it is being sent
    ///   under the other spelling; nothing is changed then.
    func adopt(
        _ row: RemoteRow, for insert: TableOperation, _ table: TableRecord
    ) throws -> Bool {
        let other = try items.row(table, exactly: row.id)
        if row.id.kind == .integer {
            if let other {
                let isSameRow =
                    other.serverCreatedAt != nil && row.createdAt != nil
                    && !row.wasCreated(otherThan: other.serverCreatedAt)
                if try !isSameRow || !follow(insert, with: other) { try giveAway(other, table) }
            }
            return try remap(insert.itemID, to: row.id, table)
        }
        if row.id.isLike(insert.itemID) {
            if let other, other.pending != nil, try !follow(insert, with: other) { return false }
        } else if let other, other.known != nil {
            guard row.columns.holds(insert.changes), try !items.hasEarlierID(row.id, table),
                try hasCome(other, since: insert, table)
            else { return false }
        }
        return try remap(insert.itemID, to: row.id, table)
    }

    /// Whether an item came after an insert was written: its row in the store is the newer one.
    private func hasCome(
        _ other: ItemRow, since insert: TableOperation, _ table: TableRecord
    ) throws -> Bool {
        // An insert over a tombstone keeps the tombstone's row, which is older than the insert.
        guard let theirs = other.rowID,
            let own = try items.row(table, exactly: insert.itemID), let mine = own.rowID,
            own.createdAt == insert.createdAt.milliseconds
        else { return false }
        return theirs > mine
    }

    /// Takes an item's id away from it, because the backend has given the id to another row: its own row is
    /// gone.
    ///
    /// 1. An item without open operations is removed, and its history can no longer be undone.
    /// 2. Otherwise the item gets a provisional id of its own, with its operations, its history and the ids
    ///    that find it. A change that was not sent becomes a conflict with a row that is gone; a delete has
    ///    nothing to do. One that is being sent is judged by its answer (``Settling``). An insert stays one,
    ///    and the id that its client knows finds it.
    func giveAway(_ row: ItemRow, _ table: TableRecord) throws {
        var chain = try queue.chain(of: row)
        guard let head = chain.first else {
            try transaction.run("DELETE FROM items WHERE rowid = ?", [row.rowID])
            try transaction.run(
                "UPDATE history SET undoable = 0 WHERE table_id = ? AND item_id = ?",
                [table.id, row.id.text])
            return
        }
        let id = try counters.nextProvisionalID(table.id)
        var moved = row
        moved.id = id
        moved.shadow = nil
        moved.takeServerProperties(.none)
        moved.serverCreatedAt = nil
        for (name, key) in [
            ("items", "id"), ("aliases", "id"), ("operations", "item_id"), ("history", "item_id"),
            ("undo_points", "item_id"),
        ] {
            try transaction.run(
                "UPDATE \(name) SET \(key) = ?3 WHERE table_id = ?1 AND \(key) = ?2",
                [table.id, row.id.text, id.text], keep: false)
        }
        for index in chain.indices { chain[index].itemID = id }
        if head.kind == .insert {
            try addAlias(row.id, of: id, table)
            try items.save(&moved)
        } else if head.state == .sending {
            try items.save(&moved)
        } else {
            // A request that may have reached the earlier row has no effect on the row that the item may become.
            chain[0].maybeApplied = false
            chain[0].mayArriveLate = false
            try rebase.move(&moved, chain, onto: .none)
        }
        events.emit(.item, table: table.name, item: id)
    }

    /// Makes the open operations of an item successors of an operation that the backend has applied to the same row.
    /// - Returns: false if it has none, or one of them is being sent.
    private func follow(_ insert: TableOperation, with other: ItemRow) throws -> Bool {
        guard let head = try queue.chain(of: other).first, head.state != .sending else {
            return false
        }
        let last = try queue.successors(of: insert.seq).last ?? insert
        try transaction.run(
            "UPDATE operations SET successor_of = ? WHERE seq = ?", [last.seq, head.seq])
        try transaction.run("UPDATE items SET pending = NULL WHERE rowid = ?", [other.rowID])
        return true
    }

    /// Gives an item and its open operations the id that the backend assigned to its insert, or the backend's
    /// spelling of its id.
    ///
    /// 1. The row and the operations take the new id. The old id becomes an alias, with which clients still
    ///    find the item.
    /// 2. A tombstone stays under the old id, for clients that sync with this store. If the backend has
    ///    another item with the old id, its row is stored there instead.
    /// 3. References in declared columns are set to the new id, in items that have open operations.
    ///
    /// - Returns: false if an item with open operations already has the new id; nothing is changed then.
    func remap(_ old: ItemID, to id: ItemID, _ table: TableRecord) throws -> Bool {
        if let other = try items.row(table, exactly: id) {
            guard other.pending == nil else { return false }
            try transaction.run("DELETE FROM items WHERE rowid = ?", [other.rowID])
        }
        let row = try items.row(table, exactly: old)
        let chain = try queue.chain(of: row)
        try transaction.run(
            "UPDATE items SET id = ?3, stamp = ?4, version = ?5 WHERE table_id = ?1 AND id = ?2",
            [
                table.id, old.text, id.text, try counters.nextStamp(table.id),
                transaction.ids.version(),
            ])
        for seq in chain.map(\.seq) {
            try transaction.run("UPDATE operations SET item_id = ? WHERE seq = ?", [id.text, seq])
        }
        // Earlier aliases of the item refer to the new id.
        try transaction.run(
            "UPDATE aliases SET id = ?3 WHERE table_id = ?1 AND id = ?2",
            [table.id, old.text, id.text])
        try addAlias(old, of: id, table)
        if let row, row.shadow != nil, !row.serverDeleted, !id.isLike(old) {
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

    /// Lets an item be found by an id that the backend does not give it.
    func addAlias(_ alias: ItemID, of id: ItemID, _ table: TableRecord) throws {
        try transaction.run(
            "INSERT OR REPLACE INTO aliases(table_id, alias, id) VALUES (?, ?, ?)",
            [table.id, alias.text, id.text])
    }

    /// Stores the backend's row under its own id, after the local item with the same id got another one.
    private func split(_ row: ItemRow, from id: ItemID) throws {
        try transaction.run(
            """
            UPDATE items SET shadow_columns = NULL, server_version = NULL, server_updated_at = NULL,
              server_created_at = NULL, server_deleted = 0 WHERE table_id = ? AND id = ?
            """, [row.tableID, id.text])
        var theirs = ItemRow(new: row.id, tableID: row.tableID)
        theirs.columns = row.shadow ?? Columns()
        theirs.serverVersion = row.serverVersion
        theirs.serverUpdatedAt = row.serverUpdatedAt
        theirs.serverCreatedAt = row.serverCreatedAt
        theirs.createdAt = transaction.now.milliseconds
        try items.restamp(&theirs, from: theirs)
    }

    private func leaveTombstone(of row: ItemRow) throws {
        var tombstone = ItemRow(new: row.id, tableID: row.tableID)
        tombstone.columns = row.columns
        tombstone.createdAt = row.createdAt
        tombstone.deleted = true
        tombstone.deletedAfter = row.serverDeleted ? row.serverUpdatedAt ?? "" : row.deletedAfter
        try items.restamp(&tombstone, from: tombstone)
    }

    /// Sets references in a table to the new id. Only items with open operations can refer to an id that
    /// the backend never had.
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
    /// Sets a column that refers to an item to the item's new id.
    /// - Returns: false if it refers to another item.
    fileprivate mutating func rename(_ old: ItemID, to new: ItemID, in column: String) -> Bool {
        let isInPayload = payload?.rename(old, to: new, in: column) ?? false
        let isInBase = baseRow?.rename(old, to: new, in: column) ?? false
        return isInPayload || isInBase
    }
}

extension Columns {
    /// Whether a column's value is the item's id, as text or number.
    func names(_ id: ItemID, in column: String) -> Bool {
        let value = value(column)
        return value.string.map { $0.utf8.elementsEqual(id.text.utf8) } ?? (value.text == id.text)
    }

    fileprivate mutating func rename(_ old: ItemID, to new: ItemID, in column: String) -> Bool {
        let key = ExactName(lowercasing: column)
        guard names(old, in: column),
            let name = all.first(where: { ExactName(lowercasing: $0.name) == key })?.name
        else { return false }
        let isText = self[name]?.string != nil
        self[name] = isText ? .string(new.text) : new.json
        return true
    }
}

/// Determines the kind of a table's ids from the backend's rows.
struct IDKinds: InTransaction {
    let transaction: Transaction

    /// The table's record. If it is new, the rows determine the kind of its ids.
    func tableForRows(_ name: TableName, _ rows: [ListElement]) throws -> TableRecord {
        let kind = rows.lazy.compactMap(\.row).first?.id.kind ?? .string
        var record = try tables.make(name, idKind: kind)
        switch kind {
        case .integer: try adoptIntegerIDs(&record)
        case .string where rows.contains(where: { $0.row != nil }): try adoptStringIDs(&record)
        case .string: break
        }
        return record
    }

    /// Changes a table to integer ids that the backend assigns. Until the backend has shown a row, ids are
    /// strings, and inserts get ids that this store generates.
    ///
    /// 1. If an item of the backend has another kind of id, or an insert may have arrived with its own id,
    ///    nothing changes. The next answer tries again.
    /// 2. Each insert gets a provisional id. Its old id becomes an alias, unless an item of the backend has
    ///    it.
    /// 3. An insert that was refused because of its id is due again.
    func adoptIntegerIDs(_ table: inout TableRecord) throws {
        guard table.idKind == .string else { return }
        var inserts: [TableOperation] = []
        for (text, row) in try rows(of: table) {
            let isNumber = Int64(text).map { $0 > 0 } ?? false
            let first = try queue.chain(of: row).first
            if first?.kind == .insert, let first {
                guard first.hasGeneratedID || isNumber, !first.mayHaveReached, !first.mayArriveLate
                else { return }
                inserts.append(first)
            } else if !isNumber {
                // A tombstone of an item that has another id now.
                guard row.deleted, first == nil else { return }
            }
        }
        table.idKind = .integer
        try tables.save(table)
        for insert in inserts {
            // A provisional id is never used by another item.
            guard
                try assignedIDs.remap(
                    insert.itemID, to: try counters.nextProvisionalID(table.id), table)
            else { continue }
            guard insert.state == .quarantined, var again = try queue.operation(seq: insert.seq)
            else {
                continue
            }
            try queue.requeue(&again, "Its table's ids are the backend's to give.")
        }
    }

    /// Changes a table with integer ids to string ids, as the backend's rows show. An insert that was not
    /// sent gets a generated id; its provisional one becomes an alias. If an item of the backend has an
    /// integer id, or an insert may have arrived, nothing changes.
    func adoptStringIDs(_ table: inout TableRecord) throws {
        guard table.idKind == .integer else { return }
        var inserts: [TableOperation] = []
        for (_, row) in try rows(of: table) {
            guard let first = try queue.chain(of: row).first else {
                if row.deleted { continue }
                return
            }
            guard first.kind == .insert, !first.mayHaveReached, !first.mayArriveLate else { return }
            inserts.append(first)
        }
        table.idKind = .string
        try tables.save(table)
        for insert in inserts {
            _ = try assignedIDs.remap(
                insert.itemID, to: transaction.ids.itemID(for: .mobileApps), table)
        }
    }

    private func rows(of table: TableRecord) throws -> [(String, ItemRow)] {
        let texts: [String] = try transaction.column(
            "SELECT id FROM items WHERE table_id = ?", [table.id])
        return try texts.compactMap { text in
            let id = ItemID(stored: text, kind: table.idKind)
            return try items.row(table, exactly: id).map { (text, $0) }
        }
    }
}
