import Storage
import TablesProtocol

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
            guard try assignedIDs.remap(insert, to: try counters.nextProvisionalID(table.id), table)
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
            _ = try assignedIDs.remap(insert, to: transaction.ids.itemID(for: .mobileApps), table)
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
