import Storage
public import TablesProtocol

/// What must be known of a store while it is closed.
public struct StoreSummary: Sendable, Hashable {
    /// When its next operation is due.
    public var due: DueWork
    /// When its oldest open operation was accepted; nil without one.
    public var oldestAt: Instant?
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
    public init(due: DueWork, oldestAt: Instant?, ledger: Ledger, tables: [Table]) {
        self.due = due
        self.oldestAt = oldestAt
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
        let first = try OperationLists(transaction: transaction)
            .page(OperationFilter(), after: 0, limit: 1)
        self.init(
            due: isDue ? .now : DueWork(try operations.earliestAttempt(), noted: transaction.now),
            oldestAt: first.items.first?.createdAt, ledger: try transaction.ledger.read(),
            tables: try TableStatuses(transaction: transaction).all().map { table in
                StoreSummary.Table(
                    name: table.name, items: table.items, setAside: table.setAside,
                    pullsFail: table.pullError != nil)
            })
    }
}
