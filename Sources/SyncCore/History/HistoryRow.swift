import GRDB
import TablesProtocol

/// An entry of history as it is kept.
struct HistoryRow {
    let id: Int64
    let tableID: Int64?
    let itemID: String?
    let operationID: OperationID?
    let before: Columns?
    let after: Columns?
    let summary: String
    let isUndoable: Bool
    let undoneBy: Int64?
    let kind: HistoryEntry.Kind?
    let at: Int64
    /// The backend's version that a given-up change started from.
    let serverVersion: String?

    init(_ row: Row) {
        id = row["id"]
        tableID = row["table_id"]
        itemID = row["item_id"]
        operationID = row["op_id"]
        before = (row["before"] as String?).map { Columns(stored: $0) }
        after = (row["after"] as String?).map { Columns(stored: $0) }
        summary = row["summary"]
        isUndoable = row["undoable"]
        undoneBy = row["undone_by"]
        kind = HistoryEntry.Kind(rawValue: row["kind"])
        at = row["at"]
        serverVersion = row["server_version"]
    }
}
