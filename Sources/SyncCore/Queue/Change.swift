import TablesProtocol

/// The columns that an operation sends.
struct Change: Sendable, Hashable {
    /// The names of the user's columns that differ from the base.
    var changedColumns: [String]
    /// All columns for insert and replace, the changed ones for update. For a delete, those of the update
    /// that was merged into it: they are not sent with it, but an undelete sends them. Nil otherwise.
    var payload: Columns?

    /// Compares by JSON value, dates with their offsets and all their digits too. An absent column equals
    /// null, so a column that was removed is sent as null.
    init(_ kind: OperationKind, columns: Columns, base: Columns?) {
        switch kind {
        case .insert:
            changedColumns = columns.names
            payload = columns
        case .replace:
            changedColumns = columns.writtenNames(from: base ?? Columns())
            payload = columns
        case .update, .delete:
            changedColumns = columns.writtenNames(from: base ?? Columns())
            let changed = columns.picking(changedColumns)
            payload = kind == .delete && changed.isEmpty ? nil : changed
        case .undelete:
            changedColumns = []
        }
    }
}

extension TableOperation {
    /// Sets what is sent from the item's new columns.
    mutating func setChange(to columns: Columns) {
        let change = Change(kind, columns: columns, base: baseRow)
        changedColumns = change.changedColumns
        // A late arrival of the earlier insert would now bring other columns.
        if mayArriveLate, payload?.text != change.payload?.text { hasGeneratedID = false }
        payload = change.payload
        title = ItemTitle.of(columns) ?? title
    }

    /// Whether sending the operation would change nothing.
    var changesNothing: Bool {
        switch kind {
        case .update, .replace: changedColumns.isEmpty
        case .insert, .delete, .undelete: false
        }
    }
}
