import TablesProtocol

extension Transaction {
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
            let first = try chain(of: row).first
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
        try save(table)
        for insert in inserts {
            // A provisional id is no other item's.
            guard try remap(insert, to: try nextProvisionalID(table.id), table) else { continue }
            guard insert.state == .quarantined, var again = try operation(seq: insert.seq) else {
                continue
            }
            try requeue(&again, "Its table's ids are the backend's to give.")
        }
    }

    /// Makes a table that was taken for one with integer ids one with string ids, as the backend's rows
    /// show. An insert that was not sent gets an id that is made here; its provisional one keeps answering.
    /// Where an item of the backend has a number, or an insert may have arrived, all stays.
    func adoptStringIDs(_ table: inout TableRecord) throws {
        guard table.idKind == .integer else { return }
        var inserts: [TableOperation] = []
        for (_, row) in try rows(of: table) {
            guard let first = try chain(of: row).first else {
                if row.deleted { continue }
                return
            }
            guard first.kind == .insert, !first.mayHaveReached, !first.mayArriveLate else { return }
            inserts.append(first)
        }
        table.idKind = .string
        try save(table)
        for insert in inserts {
            _ = try remap(insert, to: ids.itemID(for: .mobileApps), table)
        }
    }

    private func rows(of table: TableRecord) throws -> [(String, ItemRow)] {
        let texts: [String] = try column("SELECT id FROM items WHERE table_id = ?", [table.id])
        return try texts.compactMap { text in
            let id = ItemID(stored: text, kind: table.idKind)
            return try row(table, exactly: id).map { (text, $0) }
        }
    }
}
