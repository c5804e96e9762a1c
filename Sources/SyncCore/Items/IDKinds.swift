import TablesProtocol

/// Learns from the backend's rows what kind of ids a table has.
struct IDKinds {
    let transaction: Transaction
    private var counters: StoreCounters { transaction.counters }
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var tables: TableRecords { transaction.tables }
    private var assignedIDs: AssignedIDs { AssignedIDs(transaction: transaction) }

    /// The table's record, made by its first rows, which also say what its ids are.
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

    /// Makes a table one whose ids the backend assigns, as its answers show. As long as it has not shown a
    /// row, its ids are taken for strings, and inserts get one that is made here.
    ///
    /// 1. Where an item of the backend has any other id, or an insert may have arrived under its own, all
    ///    stays; the next answer asks again.
    /// 2. Each insert gets a provisional id instead; the one that it had keeps answering, unless an item
    ///    of the backend has it.
    /// 3. One that was refused meanwhile, for its id, is due again.
    func adoptIntegerIDs(_ table: inout TableRecord) throws {
        guard table.idKind == .string else { return }
        var inserts: [TableOperation] = []
        for (text, row) in try rows(of: table) {
            let isNumber = Int64(text).map { $0 > 0 } ?? false
            let first = try queue.chain(of: row).first
            if first?.kind == .insert, let first {
                guard first.madeID || isNumber, !first.mayHaveReached, !first.mayArriveLate
                else { return }
                inserts.append(first)
            } else if !isNumber {
                // What is left of an item that has another id now.
                guard row.deleted, first == nil else { return }
            }
        }
        table.idKind = .integer
        try tables.save(table)
        for insert in inserts {
            // A provisional id is no other item's.
            guard try assignedIDs.remap(insert, to: try counters.nextProvisionalID(table.id), table)
            else { continue }
            guard insert.state == .quarantined, var again = try queue.operation(seq: insert.seq)
            else {
                continue
            }
            try queue.requeue(&again, "Its table's ids are the backend's to give.")
        }
    }

    /// Makes a table that was taken for one with integer ids one with string ids, as the backend's rows
    /// show. An insert that was not sent gets an id that is made here; its provisional one keeps answering.
    /// Where an item of the backend has a number, or an insert may have arrived, all stays.
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
