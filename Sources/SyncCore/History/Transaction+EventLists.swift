import GRDB
import TablesProtocol

extension Transaction {
    /// The events after one, oldest first; a reset when some of them are gone.
    func events(after id: Int64, limit: Int) throws -> EventBatch {
        let latest =
            try integer("SELECT seq FROM sqlite_sequence WHERE name = 'events'") ?? 0
        let oldest = try integer("SELECT min(id) FROM events") ?? latest + 1
        if id > latest || id + 1 < oldest { return .reset(latest: latest) }
        let rows = try all("SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?", [id, limit])
        return .events(
            rows.compactMap { row in
                guard let kind = Event.Kind(rawValue: row["kind"]) else { return nil }
                return Event(
                    id: row["id"], kind: kind, identity: identity, table: row["table_name"],
                    itemID: row["item_id"], operationID: row["op_id"])
            })
    }
}
