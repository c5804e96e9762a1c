import Storage
import Synchronization
import TablesProtocol

/// What a transaction on the writer is to the store: who it is for, what time it is, and what has to be
/// told when it is committed.
final class StoreWork: WriterOwner {
    let identity: String
    let clock: any StoreClock
    let ids: any IDSource
    /// What is remembered of the tables, for each reader apart.
    let catalog: TableCatalogs
    /// See ``Transaction/parts``.
    let parts: [TableName: TablePart]?
    private let listeners = Mutex(Listeners())
    #if DEBUG
        /// The bug that the simulator has given the store.
        let planted = Mutex<ProductBug?>(nil)
    #endif

    /// What is called after a commit.
    struct Listeners {
        var onWrite: @Sendable () -> Void = {}
        var onEvents: @Sendable ([Event]) -> Void = { _ in }
        var onDecisionNeeded: @Sendable (DecisionNeeded) -> Void = { _ in }
    }

    init(
        identity: String, clock: any StoreClock, ids: any IDSource, catalog: TableCatalogs,
        parts: [TableName: TablePart]?
    ) {
        self.identity = identity
        self.clock = clock
        self.ids = ids
        self.catalog = catalog
        self.parts = parts
    }

    func listen(_ change: (inout Listeners) -> Void) { listeners.withLock { change(&$0) } }

    /// A transaction of the store on an open connection.
    /// - Parameter tables: what is remembered of the tables as they are committed; only the writer knows
    ///   that no other connection commits meanwhile.
    func transaction(_ connection: Connection, tables: TableCatalog? = nil) -> Transaction {
        let transaction = Transaction(
            db: connection, identity: identity, now: clock.now(), ids: ids, tablesInMemory: tables,
            effects: TransactionEffects())
        transaction.parts = parts
        #if DEBUG
            transaction.planted = planted.withLock { $0 }
        #endif
        return transaction
    }

    func begin(on connection: Connection) -> Transaction {
        let transaction = transaction(connection, tables: catalog.writer)
        transaction.begunAt = clock.uptime()
        return transaction
    }

    func refresh(_ transaction: inout Transaction) { transaction.now = clock.now() }

    func isLong(_ transaction: Transaction) -> Bool {
        clock.uptime() - transaction.begunAt >= .milliseconds(StorageLimits.groupMilliseconds)
    }

    /// How much a transaction has kept in memory.
    struct Mark {
        var events: Int
        var decisionsNeeded: Int
    }

    func mark(_ transaction: Transaction) -> Mark {
        Mark(
            events: transaction.effects.events.count,
            decisionsNeeded: transaction.effects.decisionsNeeded.count)
    }

    func rollBack(_ transaction: Transaction, to mark: Mark) {
        transaction.effects.events.removeSubrange(mark.events...)
        transaction.effects.decisionsNeeded.removeSubrange(mark.decisionsNeeded...)
    }

    func finish(_ transaction: Transaction) throws {
        try transaction.flush()
        assert((try? transaction.ledger.read().balances) ?? true, "the ledger must balance")
    }

    func didCommit(_ transaction: Transaction) {
        let effects = transaction.effects
        if effects.changedTables { catalog.forget() }
        let listeners = listeners.withLock { $0 }
        if !effects.events.isEmpty { listeners.onEvents(effects.events) }
        for needed in effects.decisionsNeeded { listeners.onDecisionNeeded(needed) }
        if effects.madeWork { listeners.onWrite() }
    }

    /// Forgets the oldest rows that the backend has as well; false when there are none.
    func makeRoom(_ transaction: Transaction) throws -> Bool {
        try Purging(transaction: transaction).forgetOldest(StoreLimits.forgottenRows) > 0
    }
}
