import TablesProtocol

extension Transaction {
    /// Makes a table one whose ids the backend assigns. As long as the backend has not shown a row,
    /// its ids are taken for strings, and inserts get one that is made here.
    ///
    /// 1. Where an item has any other id, or an insert may have arrived under its own, all stays.
    /// 2. Each insert gets a provisional id instead; the one that it had keeps answering.
    /// 3. One that was refused meanwhile, for its id, is due again.
    func adoptIntegerIDs(_ table: inout TableRecord) throws {
        guard table.idKind == .string else { return }
        let items: [String] = try column("SELECT id FROM items WHERE table_id = ?", [table.id])
        var inserts: [TableOperation] = []
        for text in items {
            guard let id = try? ItemID(text), let row = try row(table, exactly: id),
                let first = try chain(of: row).first, first.kind == .insert, first.madeID,
                !first.mayHaveReached, !first.mayArriveLate
            else { return }
            inserts.append(first)
        }
        table.idKind = .integer
        try save(table)
        for insert in inserts {
            // A provisional id is nobody else's.
            guard try remap(insert, to: try nextProvisionalID(table.id), table) else { continue }
            guard insert.state == .quarantined, var again = try operation(seq: insert.seq) else {
                continue
            }
            try requeue(&again, "Its table's ids are the backend's to give.")
        }
    }
}
