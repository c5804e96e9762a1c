import Storage
import TablesProtocol

public enum EventKind: String, Sendable, Hashable, CaseIterable {
    case item, operation, run, status, conflict
}

/// A change that a client of the event stream shows by reading again.
public struct Event: Sendable, Hashable {
    /// The event's id, from a persisted sequence.
    public var id: Int64
    public var kind: EventKind
    public var identity: String
    /// The table; nil if the event concerns all.
    public var table: String?
    /// The item; nil if several items changed.
    public var itemID: String?
    /// The operation; nil if none is concerned.
    public var operationID: OperationID?
}

public enum EventBatch: Sendable, Hashable {
    /// The events after the id that the reader named, oldest first.
    case events([Event])
    /// The named event is too old or not of this store: read everything again and continue from `latest`.
    case reset(latest: Int64)
}

/// The events of the store: `events`.
struct EventLog {
    let transaction: Transaction

    /// Adds an event to the transaction. All its events are written, and get their ids, at the end of the
    /// transaction (``write()``).
    func emit(
        _ kind: EventKind, table: TableName? = nil, item: ItemID? = nil,
        operation: OperationID? = nil
    ) {
        transaction.effects.events.append(
            Event(
                id: 0, kind: kind, identity: transaction.identity, table: table?.text,
                itemID: item?.text,
                operationID: operation))
    }

    func emit(_ kind: EventKind, _ operation: TableOperation) {
        emit(kind, table: operation.table, item: operation.itemID, operation: operation.id)
    }

    /// Writes the transaction's events. Each statement writes a power of two of them, so that few different
    /// statements are prepared.
    func write() throws {
        var written = 0
        while written < transaction.effects.events.count {
            var count = StoreLimits.eventsInStatement
            while count > transaction.effects.events.count - written { count /= 2 }
            let events = written..<written + count
            var values: StatementValues = []
            for event in transaction.effects.events[events] {
                values += [event.kind.rawValue, event.table, event.itemID, event.operationID]
            }
            try transaction.run(EventStatement.inserting[count.trailingZeroBitCount], values)
            let last = transaction.db.insertedRowID
            for (place, index) in events.enumerated() {
                transaction.effects.events[index].id = last - Int64(count - 1 - place)
            }
            let step = StoreLimits.eventsBetweenRemovals
            if last / step > (last - Int64(count)) / step {
                try transaction.run(
                    "DELETE FROM events WHERE id <= ?", [last - Int64(StoreLimits.events)])
            }
            written += count
        }
    }

    /// The events after an id, oldest first; a reset if some of them are gone.
    func after(after id: Int64, limit: Int) throws -> EventBatch {
        let latest =
            try transaction.integer("SELECT seq FROM sqlite_sequence WHERE name = 'events'") ?? 0
        let oldest = try transaction.integer("SELECT min(id) FROM events") ?? latest + 1
        if id > latest || id + 1 < oldest { return .reset(latest: latest) }
        let events = try transaction.all(
            """
            SELECT id, kind, table_name, item_id, op_id FROM events WHERE id > ? ORDER BY id LIMIT ?
            """, [id, limit]
        ) { row -> Event? in
            guard let kind = EventKind(rawValue: row[1]) else { return nil }
            return Event(
                id: row[0], kind: kind, identity: transaction.identity, table: row[2],
                itemID: row[3],
                operationID: row[4])
        }
        return .events(events)
    }
}

private enum EventStatement {
    /// The statements that insert 1, 2, 4, … events. Constants, because statements are cached by their
    /// text.
    static let inserting = (0...StoreLimits.eventsInStatement.trailingZeroBitCount).map { power in
        "INSERT INTO events(kind, table_name, item_id, op_id) VALUES "
            + repeatElement("(?, ?, ?, ?)", count: 1 << power).joined(separator: ", ")
    }
}
