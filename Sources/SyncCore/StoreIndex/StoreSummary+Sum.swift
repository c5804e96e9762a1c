extension StoreSummary {
    /// Adds what another store holds: the sum of both, as if they were one.
    public mutating func add(_ other: StoreSummary) {
        due = due.earlier(other.due)
        oldestAt = [oldestAt, other.oldestAt].compactMap(\.self).min()
        ledger.accepted += other.ledger.accepted
        ledger.applied += other.ledger.applied
        ledger.collapsed += other.ledger.collapsed
        ledger.discarded += other.ledger.discarded
        ledger.queue.queued += other.ledger.queue.queued
        ledger.queue.waiting += other.ledger.queue.waiting
        ledger.queue.sending += other.ledger.queue.sending
        ledger.queue.unknown += other.ledger.queue.unknown
        ledger.queue.conflict += other.ledger.queue.conflict
        ledger.queue.quarantined += other.ledger.queue.quarantined
        for table in other.tables {
            guard let place = tables.firstIndex(where: { $0.name == table.name }) else {
                tables.append(table)
                continue
            }
            tables[place].items += table.items
            tables[place].setAside += table.setAside
            tables[place].pullsFail = tables[place].pullsFail || table.pullsFail
        }
    }
}
