import Storage
import TablesProtocol

extension Transaction {
    /// The events after one, oldest first; a reset when some of them are gone.
    func events(after id: Int64, limit: Int) throws -> EventBatch {
        let latest =
            try integer("SELECT seq FROM sqlite_sequence WHERE name = 'events'") ?? 0
        let oldest = try integer("SELECT min(id) FROM events") ?? latest + 1
        if id > latest || id + 1 < oldest { return .reset(latest: latest) }
        let events = try all(
            """
            SELECT id, kind, table_name, item_id, op_id FROM events WHERE id > ? ORDER BY id LIMIT ?
            """, [id, limit]
        ) { row -> Event? in
            guard let kind = Event.Kind(rawValue: row[1]) else { return nil }
            return Event(
                id: row[0], kind: kind, identity: identity, table: row[2], itemID: row[3],
                operationID: row[4])
        }
        return .events(events)
    }
}
