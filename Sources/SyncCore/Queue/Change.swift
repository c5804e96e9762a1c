import TablesProtocol

/// What an operation of some kind sends, given the item's columns and what they started from.
struct Change: Sendable, Hashable {
    /// The user's columns that differ.
    var changedColumns: [String]
    /// All columns for insert and replace, the changed ones for update, nil otherwise.
    var payload: Columns?

    /// Compares by JSON value; an absent column and null are the same, so a column that was taken
    /// away is sent as null.
    init(_ kind: OperationKind, columns: Columns, base: Columns?) {
        switch kind {
        case .insert:
            changedColumns = columns.names
            payload = columns
        case .replace:
            changedColumns = columns.changedNames(from: base ?? Columns())
            payload = columns
        case .update:
            changedColumns = columns.changedNames(from: base ?? Columns())
            payload = Columns(changedColumns.map { Columns.Column($0, columns[$0] ?? .null) })
        case .delete, .undelete:
            changedColumns = []
        }
    }
}

extension TableOperation {
    /// Takes what is to be sent from the item's columns.
    mutating func take(_ columns: Columns) {
        let change = Change(kind, columns: columns, base: baseRow)
        changedColumns = change.changedColumns
        // An insert of this id that arrives late would now bring something else.
        if mayArriveLate, payload?.text != change.payload?.text { madeID = false }
        payload = change.payload
        title = ItemTitle.of(columns) ?? title
    }

    /// Whether sending it would change nothing.
    var changesNothing: Bool {
        switch kind {
        case .update, .replace: changedColumns.isEmpty
        case .insert, .delete, .undelete: false
        }
    }
}

/// A short text by which a person recognises an item.
enum ItemTitle {
    private static let preferred = ["text", "title", "name", "subject", "description", "label"]

    /// The text of the column that most likely names the item, cut; nil when none is text.
    static func of(_ columns: Columns) -> String? {
        let texts = columns.all.compactMap { column in
            column.value.string.map { (column.name.lowercased(), $0) }
        }
        let named = preferred.lazy.compactMap { name in
            texts.first { $0.0 == name && !$0.1.isEmpty }
        }.first
        guard let text = (named ?? texts.first { !$0.1.isEmpty })?.1 else { return nil }
        return String(text.prefix(StoreLimits.titleCharacters))
    }
}
