import Storage
import TablesProtocol

extension Transaction {
    /// Tells the dashboard, after the commit, that something changed. The event is written, and gets
    /// its id, with all others of the transaction (``writeEvents()``).
    func emit(
        _ kind: Event.Kind, table: TableName? = nil, item: ItemID? = nil,
        operation: OperationID? = nil
    ) {
        effects.events.append(
            Event(
                id: 0, kind: kind, identity: identity, table: table?.text, itemID: item?.text,
                operationID: operation))
    }

    /// Tells the dashboard that an operation changed.
    func emit(_ kind: Event.Kind, _ operation: TableOperation) {
        emit(kind, table: operation.table, item: operation.itemID, operation: operation.id)
    }

    /// Writes the transaction's events in as few statements as there are binary digits in their number.
    func writeEvents() throws {
        var written = 0
        while written < effects.events.count {
            var count = StoreLimits.eventsInStatement
            while count > effects.events.count - written { count /= 2 }
            let events = written..<written + count
            var values: StatementValues = []
            for event in effects.events[events] {
                values += [event.kind.rawValue, event.table, event.itemID, event.operationID]
            }
            try run(EventStatement.inserting[count.trailingZeroBitCount], values)
            let last = db.insertedRowID
            for (place, index) in events.enumerated() {
                effects.events[index].id = last - Int64(count - 1 - place)
            }
            if last / 512 > (last - Int64(count)) / 512 {
                try run("DELETE FROM events WHERE id <= ?", [last - Int64(StoreLimits.events)])
            }
            written += count
        }
    }
}

private enum EventStatement {
    /// The statements that write 1, 2, 4, ... events. Made once: they are looked up by their text.
    static let inserting = (0...StoreLimits.eventsInStatement.trailingZeroBitCount).map { power in
        "INSERT INTO events(kind, table_name, item_id, op_id) VALUES "
            + repeatElement("(?, ?, ?, ?)", count: 1 << power).joined(separator: ", ")
    }
}
