import Storage
import TablesProtocol

extension HistoryEntry {
    /// The columns in the order in which ``init(_:)`` reads them.
    static let columns = "\(HistoryRow.columns), history.actor, tables.name, operations.title"

    /// An entry with its table's name.
    init?(_ row: StatementRow) {
        let entry = HistoryRow(row)
        guard let kind = entry.kind, let actor = Actor(rawValue: row[11]) else { return nil }
        self.init(
            id: entry.id, at: Instant(milliseconds: entry.at), kind: kind, actor: actor,
            table: row[12], itemID: entry.itemID, operationID: entry.operationID, title: row[13],
            before: entry.before?.json, after: entry.after?.json,
            summary: entry.summary,
            undoable: entry.isUndoable && entry.undoneBy == nil, undoneBy: entry.undoneBy)
    }
}
