import TablesProtocol

extension Transaction {
    /// Takes over an entry of another store's history, once.
    ///
    /// 1. One with the same time, kind, actor, table, item, operation and sentence is the same, also
    ///    where it happened here.
    /// 2. A new one gets a number below all others, so that a list has what was imported behind what
    ///    happened here, in the order in which it comes: the latest first.
    /// 3. It cannot be undone: its operation and the bases it was made from are in the other store.
    func take(_ entry: ImportedEntry, _ rules: WriteRules) throws -> ImportedOutcome {
        var tableID: Int64?
        if let name = entry.table {
            guard rules.allows(name) else { return .tableNotAllowed }
            tableID = try makeTable(name).id
        }
        let here = entry.actor.isElsewhere ? entry.actor : .elsewhere(entry.actor)
        let known = try integer(
            """
            SELECT 1 FROM history WHERE at = ? AND kind = ? AND actor IN (?, ?) AND table_id IS ?
              AND item_id IS ? AND op_id IS ? AND summary = ?
            """,
            [
                entry.at.milliseconds, entry.kind.rawValue, entry.actor.rawValue, here.rawValue,
                tableID, entry.itemID, entry.operationID, entry.summary,
            ])
        if known != nil { return .present }
        let lowest = try integer("SELECT min(id) FROM history") ?? 0
        try run(
            """
            INSERT INTO history(id, at, kind, actor, table_id, item_id, op_id, before, after, summary)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                min(lowest, 0) - 1, entry.at.milliseconds, entry.kind.rawValue, here.rawValue,
                tableID, entry.itemID, entry.operationID, entry.before?.text, entry.after?.text,
                entry.summary,
            ])
        return .added
    }
}
