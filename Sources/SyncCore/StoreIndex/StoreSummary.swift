import Storage
public import TablesProtocol

/// What must be known of a store while it is closed.
public struct StoreSummary: Sendable, Hashable {
    /// When its next operation is due.
    public var due: DueWork
    /// When the oldest operation that waits for the backend was accepted; nil without one.
    public var oldestAt: Instant?
    /// The same of those that wait for a person.
    public var oldestForPersonAt: Instant?
    /// The account of every write, and what is open.
    public var ledger: Ledger
    /// Its tables, by name.
    public var tables: [Table]

    /// What must be known of a table.
    public struct Table: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Items that clients see.
        public var items: Int
        /// Rows of the backend that cannot be taken.
        public var setAside: Int
        /// Whether its pulls fail.
        public var pullsFail: Bool

        /// Makes it from its parts.
        public init(name: String, items: Int, setAside: Int, pullsFail: Bool) {
            self.name = name
            self.items = items
            self.setAside = setAside
            self.pullsFail = pullsFail
        }
    }

    /// Makes it from its parts.
    public init(
        due: DueWork, oldestAt: Instant?, oldestForPersonAt: Instant? = nil, ledger: Ledger,
        tables: [Table]
    ) {
        self.due = due
        self.oldestAt = oldestAt
        self.oldestForPersonAt = oldestForPersonAt
        self.ledger = ledger
        self.tables = tables
    }

    /// That of a store without anything.
    public static let empty = StoreSummary(
        due: .never, oldestAt: nil,
        ledger: Ledger(
            accepted: 0, applied: 0, collapsed: 0, discarded: 0, queue: QueueCounts()),
        tables: [])
}

extension Store {
    /// What must be known of the store while it is closed. For the time between the last use and
    /// ``close()``: it waits for what is being written.
    @available(*, noasync)
    public func summary() throws(StoreError) -> StoreSummary {
        do {
            return try writer.read { try StoreSummary(transaction($0)) }
        } catch {
            throw StoreError(error)
        }
    }
}

extension StoreSummary {
    /// What must be known of the store while it is closed.
    fileprivate init(_ transaction: Transaction) throws {
        let operations = transaction.dueOperations
        let isDue = try operations.hasQueued() || transaction.attempts.hasSending()
        let lists = OperationLists(transaction: transaction)
        self.init(
            due: isDue ? .now : DueWork(try operations.earliestAttempt(), noted: transaction.now),
            oldestAt: try lists.oldest(OperationState.waitsForBackend),
            oldestForPersonAt: try lists.oldest(OperationState.waitsForPerson),
            ledger: try transaction.ledger.read(),
            tables: try TableStatuses(transaction: transaction).all().map { table in
                StoreSummary.Table(
                    name: table.name, items: table.items, setAside: table.setAside,
                    pullsFail: table.pullError != nil)
            })
    }
}

extension StoreSummary {
    /// Adds what another store holds: the sum of both, as if they were one.
    public mutating func add(_ other: StoreSummary) {
        due = due.earlier(other.due)
        oldestAt = [oldestAt, other.oldestAt].compactMap(\.self).min()
        oldestForPersonAt = [oldestForPersonAt, other.oldestForPersonAt].compactMap(\.self).min()
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

/// When the work of a closed store is due.
public enum DueWork: Sendable, Hashable {
    /// None waits for a time.
    case never
    /// As soon as it can be sent; it carries no time, so no clock that is set back delays it.
    case now
    /// At a time of the clock that showed `noted` when the store was closed.
    case at(Instant, noted: Instant)

    /// Whether it is due. A time by a clock that was set back since says nothing any more: then it is, and
    /// the engine looks at the times in the store.
    public func isDue(_ now: Instant) -> Bool {
        switch self {
        case .never: false
        case .now: true
        case .at(let time, let noted):
            time <= now || now.advanced(by: .seconds(SyncLimits.clockSlackSeconds)) < noted
        }
    }

    /// What is due first of both.
    public func earlier(_ other: DueWork) -> DueWork {
        switch (self, other) {
        case (.now, _), (_, .now): .now
        case (.never, let due), (let due, .never): due
        case (.at(let time, _), .at(let second, _)): time <= second ? self : other
        }
    }

    /// That of a store in which work waits for a time, or for none. A time is bounded by the longest wait
    /// that there is.
    init(_ time: Instant?, noted now: Instant) {
        guard let time else {
            self = .never
            return
        }
        let latest = now.advanced(by: .seconds(SyncLimits.retryAfterSeconds))
        self = time <= now ? .now : .at(min(time, latest), noted: now)
    }
}
