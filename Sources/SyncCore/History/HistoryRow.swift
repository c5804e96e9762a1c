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
    }
}
