import Storage
import Synchronization
import TablesProtocol

extension Store {
    /// Joins the next group commit. The completion, which may take its time, is called once, on a thread
    /// of the store, when the write is on disk or has failed.
    public func submit(
        _ write: LocalWrite, completion: @escaping @Sendable (WriteOutcome) -> Void
    ) {
        submit(write, takesTime: true, completion)
    }

    /// Makes a local write and returns when it is on disk or has failed.
    public func submit(_ write: LocalWrite) async -> WriteOutcome {
        await withCheckedContinuation { continuation in
            submit(write, takesTime: false) { continuation.resume(returning: $0) }
        }
    }

    private func submit(
        _ write: LocalWrite, takesTime: Bool,
        _ completion: @escaping @Sendable (WriteOutcome) -> Void
    ) {
        isWritten.store(true, ordering: .relaxed)
        let rules = rules
        let expected = write.isAwaited ? ExpectedWrite(live) : nil
        let entry = WriterEntry<Transaction>(
            isNeverRefused: false, takesTime: takesTime,
            make: { transaction in
                let outcome = try LocalWriting(transaction: transaction).perform(write, rules)
                if let operation = outcome.operation, operation.isOwn {
                    expected?.become(operation.id)
                }
                return .init(isKept: outcome.isSuccess) { completion(outcome) }
            },
            fail: {
                expected?.become(nil)
                completion(WriteOutcome(StoreError($0)))
            })
        if !writer.submit(entry) { completion(.busy) }
    }

    /// Commits a short write of the engine with the next group, and returns when it is on disk; anything
    /// else takes a transaction of its own (``write(inBudget:_:)``). A cancelled task does not stop it.
    /// - Parameter body: may run again; what it wrote before it threw is rolled back.
    func commitInGroup<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try Self.value(await writer.writeInGroup(body))
    }

    /// Runs the engine's own transaction on the writer, in turn with the groups of local writes, and
    /// returns when it is on disk. A cancelled task does not stop it: bookkeeping is finished.
    /// - Parameters:
    ///   - inBudget: true for what only brings rows, which ends where the budget ends.
    ///   - body: runs a second time where the budget refused the first.
    func write<T: Sendable>(
        inBudget: Bool = false, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try Self.value(await writer.write(inBudget: inBudget, body))
    }

    /// What a write would give: it is run, and rolled back. Nothing is removed for it from a full store.
    func preview<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        let (values, value) = AsyncStream<T>.makeStream()
        let result = await writer.write(removesRows: false) { transaction throws -> Void in
            value.yield(try body(transaction))
            throw RolledBack()
        }
        value.finish()
        if let found = await values.first(where: { _ in true }) { return found }
        try Self.value(result)
        throw .failed("The store did not say what the write would do; try again.")
    }

    /// Thrown by a write that is to leave nothing behind.
    struct RolledBack: Error {}

    /// Brings rows within the budget, and commits them together with what waits for a group commit.
    /// Returns when they are on disk. A cancelled task does not stop it.
    /// - Parameter body: ends soon where writes wait (``hasWaitingWrites``). It runs a second time where
    ///   nothing could be committed with those that waited.
    func writeBesideClients<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try Self.value(await writer.writeBesideEntries(body))
    }

    /// Whether any write waits for the next group commit.
    var hasWaitingWrites: Bool { writer.hasWaitingEntries }

    static func value<T>(_ result: Result<T, some Error>) throws(StoreError) -> T {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw StoreError(error)
        }
    }
}

extension WriteOutcome {
    /// What a client is told when the store failed.
    init(_ error: StoreError) {
        switch error {
        case .full: self = .storageFull(byBudget: false)
        case .overBudget: self = .storageFull(byBudget: true)
        // The system may give files again.
        case .readOnly, .cannotOpen: self = .readOnly
        case .otherVersion(let reason), .damaged(let reason), .failed(let reason):
            self = .failed(reason)
        }
    }
}

/// What a transaction on the writer is to the store: who it is for, what time it is, and what has to be
/// told when it is committed.
final class StoreWork: WriterOwner {
    let identity: String
    let clock: any StoreClock
    let ids: any IDSource
    /// What is remembered of the tables, for each reader apart.
    let catalog: TableCatalogs
    /// Whether the store has tables that all identities share.
    let hasPublicTables = Atomic(true)
    /// See ``Transaction/parts``.
    let parts: [TableName: TablePart]?
    private let listeners = Mutex(Listeners())

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
        if transaction.effects.changedTables {
            transaction.effects.hasPublicTables = try transaction.tables.areSomePublic
        }
        assert((try? transaction.ledger.read().balances) ?? true, "the ledger must balance")
    }

    func didCommit(_ transaction: Transaction) {
        let effects = transaction.effects
        if effects.changedTables {
            catalog.forget()
            hasPublicTables.store(effects.hasPublicTables, ordering: .releasing)
        }
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
