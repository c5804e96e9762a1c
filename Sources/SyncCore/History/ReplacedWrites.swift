import Storage
import TablesProtocol

/// Records in the history where the backend's row replaces what was written here.
///
/// An item whose changes were never sent needs no look at its history, so that a pull of other writers' rows
/// costs no query for each.
struct ReplacedWrites: InTransaction {
    let transaction: Transaction

    /// Adds one entry with the item before and after, if one of these was last written here: a column that has
    /// another value now, a column of an item that was deleted, or the deletion of an item that is back.
    ///
    /// - Parameters:
    ///   - row: the item as the backend has it, without local changes.
    ///   - before: the item before, without local changes.
    func record(_ row: ItemRow, replacing before: ItemRow) throws {
        guard before.settledAt > 0 else { return }
        let changed =
            before.deleted
            ? []
            : row.deleted ? before.columns.names : row.columns.changedNames(from: before.columns)
        guard before.deleted != row.deleted || !changed.isEmpty else { return }
        let writes = try writes(to: before)
        let replaced = Self.lastWrittenHere(Set(changed), in: before.columns, writes)
        let isUndeleted =
            before.deleted && writes.first.map { $0.kind != .pulled && $0.after == nil } ?? false
        guard isUndeleted || !replaced.isEmpty else { return }
        let what =
            before.deleted
            ? "brought back what was deleted here"
            : row.deleted
                ? "deleted what was written here"
                : "changed what was written here: \(replaced.sorted().joined(separator: ", "))"
        try history.record(
            .pulled, actor: .engine, tableID: row.tableID, item: row.id, before: before.visible,
            after: row.visible, summary: "Another writer \(what).")
    }

    /// The latest writes to an item, here or by another writer who replaced one, also under the id that it had
    /// before the backend assigned one.
    private func writes(to row: ItemRow) throws -> [HistoryRow] {
        try transaction.all(
            """
            SELECT \(HistoryRow.stored.names) FROM history
            WHERE table_id = ?1 AND item_id IN (
                SELECT ?2 UNION ALL SELECT alias FROM aliases WHERE table_id = ?1 AND id = ?2)
              AND kind IN ('pulled', 'write', 'edited', 'undone', 'resolved')
              -- A decision for the backend's row gives the operation up.
              AND (kind <> 'resolved' OR NOT EXISTS (SELECT 1 FROM operations
                WHERE operations.op_id = history.op_id AND state = 'discarded'))
            ORDER BY id DESC LIMIT ?3
            """, [row.tableID, row.id.text, StoreLimits.entriesOfItem], HistoryRow.init)
    }

    /// The columns whose present value is what a write of this store left, and no later write changed.
    /// - Parameter writes: the latest first.
    static func lastWrittenHere(
        _ names: Set<String>, in present: Columns, _ writes: [HistoryRow]
    ) -> Set<String> {
        var (open, found) = (names, Set<String>())
        let values = ColumnValues(present)
        for write in writes where !open.isEmpty {
            let after = write.after ?? Columns()
            let changed = open.intersection(after.changedNames(from: write.before ?? Columns()))
            open.subtract(changed)
            guard write.kind != .pulled, write.after != nil else { continue }
            let left = ColumnValues(after)
            found.formUnion(
                changed.filter { (left[$0] ?? .null).isSame(as: values[$0] ?? .null) })
        }
        return found
    }
}
