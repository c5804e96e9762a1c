import GRDB
import TablesProtocol

extension HistoryEntry {
    /// An entry with its table's name.
    init?(_ row: Row) {
        guard let kind = Kind(rawValue: row["kind"]), let actor = Actor(rawValue: row["actor"])
        else { return nil }
        let entry = HistoryRow(row)
        self.init(
            id: entry.id, at: Instant(milliseconds: row["at"]), kind: kind, actor: actor,
            table: row["table_name"], itemID: entry.itemID, operationID: row["op_id"],
            title: row["title"], before: entry.before?.json, after: entry.after?.json,
            summary: entry.summary,
            undoable: entry.isUndoable && entry.undoneBy == nil, undoneBy: entry.undoneBy)
    }
}
