import Storage
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

    /// The columns in the order in which ``init(_:)`` reads them.
    static let columns = """
        history.id, history.table_id, history.item_id, history.op_id, before, after, summary,
        undoable, undone_by, history.kind, at
        """

    init(_ row: StatementRow) {
        id = row[0]
        tableID = row[1]
        itemID = row[2]
        operationID = row[3]
        before = (row[4] as String?).map { Columns(stored: $0) }
        after = (row[5] as String?).map { Columns(stored: $0) }
        summary = row[6]
        isUndoable = row[7]
        undoneBy = row[8]
        kind = HistoryEntry.Kind(rawValue: row[9])
        at = row[10]
    }
}
