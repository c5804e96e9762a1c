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
            try transaction.run(
                EventStatement.inserting[count.trailingZeroBitCount],
                transaction.effects.events[events].flatMap(Event.stored.inserted))
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
            "SELECT \(Event.stored.names) FROM events WHERE id > ? ORDER BY id LIMIT ?",
            [id, limit],
            Event.init)
        return .events(
            events.map { event in
                var event = event
                event.identity = transaction.identity
                return event
            })
    }
}

extension Event: Stored {
    static let stored = StoredColumns<Event>(
        "events", blank: Event(id: 0, kind: .item, identity: ""),
        [
            .init("id", \.id, .assigned), .init("kind", \.kind, .fixed),
            .init("table_name", \.table, .fixed), .init("item_id", \.itemID, .fixed),
            .init("op_id", \.operationID, .fixed),
        ])
}

extension EventKind: ColumnValue {}

private enum EventStatement {
    /// The statements that insert 1, 2, 4, … events. Constants, because statements are cached by their
    /// text.
    static let inserting = (0...StoreLimits.eventsInStatement.trailingZeroBitCount).map { power in
        Event.stored.insert(rows: 1 << power)
    }
}
