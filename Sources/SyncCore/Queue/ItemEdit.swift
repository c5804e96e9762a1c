import TablesProtocol

/// One write on its way into the store: the row and the operations that it meets.
struct ItemEdit {
    let table: TableRecord
    var row: ItemRow
    /// The item's open operations, first to last.
    let chain: [TableOperation]
    let kind: OperationKind
    /// The columns that the write brings, in the table's spelling.
    var columns: Columns
    let write: LocalWrite
    /// The id was made by this store.
    var madeID = false

    /// The write brings back an item that was deleted before the backend ever had it so: to undelete
    /// it there would bring back another row, or none.
    var isOfNewItem: Bool {
        guard kind == .undelete else { return false }
        guard let last = chain.last else { return !row.isOnBackend }
        return last.kind == .delete
            && last.baseRow.map { !row.columns.changedNames(from: $0).isEmpty } ?? false
    }

    /// The row with the write laid over it; its stamp and version are still the old ones.
    var edited: ItemRow {
        var row = row
        switch kind {
        case .insert, .replace: row.columns = columns
        case .update: row.columns.merge(columns)
        case .delete, .undelete: break
        }
        row.deleted = kind == .delete
        return row
    }

    /// What a client is told about the item.
    func outcome(_ row: ItemRow) -> WriteOutcome {
        switch kind {
        case .insert: .inserted(row.item)
        case .update, .replace: .updated(row.item)
        case .delete: .deleted(row.item)
        case .undelete: .undeleted(row.item)
        }
    }

    /// One sentence for the history.
    func summary(after: ItemRow) -> String {
        switch kind {
        case .insert: return "Inserted."
        case .delete: return "Deleted."
        case .undelete: return "Brought back."
        case .update, .replace:
            if row.deleted { return "Brought back and changed." }
            let names = after.columns.changedNames(from: row.columns)
            return names.isEmpty ? "Changed nothing." : "Changed \(names.joined(separator: ", "))."
        }
    }
}
