import Storage
public import TablesProtocol

public struct StoreSummary: Sendable, Hashable {
    /// When its next operation is due.
    public var due: DueWork
    /// When the oldest operation that waits for the backend was accepted; nil if there is none.
    public var oldestAt: Instant?
    /// When the oldest operation that waits for a person was accepted; nil if there is none.
    public var oldestForPersonAt: Instant?
    /// The counts of every accepted write.
    public var ledger: Ledger
    /// Its tables, ordered by name.
    public var tables: [Table]

    public struct Table: Sendable, Hashable {
        public var name: String
        public var items: Int
        public var setAside: Int
        public var pullsFail: Bool
        /// How many of its operations are in conflict.
        public var conflicts: Int
        /// How many of its operations the backend refused.
        public var refused: Int
    }

    public static let empty = StoreSummary(
        due: .never, oldestAt: nil,
        ledger: Ledger(
            accepted: 0, applied: 0, collapsed: 0, discarded: 0, queue: QueueCounts()),
        tables: [])
}

extension Store {
    /// The summary of the store, to be read just before ``close()``. It waits for the present write
    /// transaction.
    @available(*, noasync)
    public func summary() throws(StoreError) -> StoreSummary {
        do {
            return try writer.read { try StoreSummary(transaction($0)) }
        } catch {
            throw StoreError(error)
        }
    }
}

extension Store {
    /// The summary of the present state.
    public func currentSummary() async throws(StoreError) -> StoreSummary {
        try await read { try StoreSummary($0) }
    }
}

extension StoreSummary {
    fileprivate init(_ transaction: Transaction) throws {
        let operations = transaction.dueOperations
        let isDue = try operations.hasQueued() || transaction.attempts.hasSending()
        let lists = OperationLists(transaction: transaction)
        let decisions = try transaction.ledger.decisionsByTable()
        self.init(
            due: isDue ? .now : DueWork(try operations.earliestAttempt(), noted: transaction.now),
            oldestAt: try lists.oldest(OperationState.waitsForBackend),
            oldestForPersonAt: try lists.oldest(OperationState.waitsForPerson),
            ledger: try transaction.ledger.read(),
            tables: try TableStatuses(transaction: transaction).all().map { table in
                StoreSummary.Table(
                    name: table.name, items: table.items, setAside: table.setAside,
                    pullsFail: table.pullError != nil,
                    conflicts: decisions[table.name]?[.conflict] ?? 0,
                    refused: decisions[table.name]?[.quarantined] ?? 0)
            })
    }
}

extension StoreSummary {
    public mutating func add(_ other: StoreSummary) {
        due = due.earlier(other.due)
        oldestAt = [oldestAt, other.oldestAt].compactMap(\.self).min()
        oldestForPersonAt = [oldestForPersonAt, other.oldestForPersonAt].compactMap(\.self).min()
        for (_, count) in Ledger.counters {
            ledger[keyPath: count] += other.ledger[keyPath: count]
        }
        for count in QueueCounts.states.values {
            ledger.queue[keyPath: count] += other.ledger.queue[keyPath: count]
        }
        for table in other.tables {
            guard let place = tables.firstIndex(where: { $0.name == table.name }) else {
                tables.append(table)
                continue
            }
            tables[place].items += table.items
            tables[place].setAside += table.setAside
            tables[place].pullsFail = tables[place].pullsFail || table.pullsFail
            tables[place].conflicts += table.conflicts
            tables[place].refused += table.refused
        }
    }
}

/// When a closed store has due work.
public enum DueWork: Sendable, Hashable {
    /// No operation waits for a time.
    case never
    /// At once. There is no time, so setting back the clock delays nothing.
    case now
    /// At this time of the wall clock, which showed `noted` when the store was closed.
    case at(Instant, noted: Instant)

    /// Whether the work is due. If the clock was set back since, the time is wrong: the work counts as due,
    /// and the engine reads the times in the store.
    public func isDue(_ now: Instant) -> Bool {
        switch self {
        case .never: false
        case .now: true
        case .at(let time, let noted):
            time <= now || now.advanced(by: .seconds(SyncLimits.clockSlackSeconds)) < noted
        }
    }

    public func earlier(_ other: DueWork) -> DueWork {
        switch (self, other) {
        case (.now, _), (_, .now): .now
        case (.never, let due), (let due, .never): due
        case (.at(let time, _), .at(let second, _)): time <= second ? self : other
        }
    }

    /// The due work of a store whose next operation waits until `time`; nil if none waits. A time is at
    /// most ``SyncLimits/retryAfterSeconds`` ahead.
    init(_ time: Instant?, noted now: Instant) {
        guard let time else {
            self = .never
            return
        }
        let latest = now.advanced(by: .seconds(SyncLimits.retryAfterSeconds))
        self = time <= now ? .now : .at(min(time, latest), noted: now)
    }
}
