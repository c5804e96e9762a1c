import GRDB
import Synchronization

extension Store {
    /// Runs the engine's own transaction on the writer, in turn with the groups of local writes, and
    /// returns when it is on disk. A cancelled task does not stop it: bookkeeping is finished.
    /// - Parameters:
    ///   - inBudget: true for what only brings rows, which ends where the budget ends.
    ///   - body: runs a second time where there was no room for the first.
    func write<T: Sendable>(
        inBudget: Bool = false, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try await onWriter { self.commit($0, inBudget: inBudget, body) }
    }

    /// Runs something on the writer, in turn.
    func onWriter<T: Sendable>(
        _ body: @escaping @Sendable (Database) -> Result<T, StoreError>
    ) async throws(StoreError) -> T {
        underWay.add(1, ordering: .relaxed)
        let result: Result<T, StoreError> = await withCheckedContinuation { continuation in
            writer.asyncWriteWithoutTransaction { db in
                continuation.resume(returning: body(db))
                self.keepLogShort(db)
                self.underWay.subtract(1, ordering: .releasing)
            }
        }
        return try result.get()
    }

    /// Reads in one transaction on a connection of the engine's and the operator's own.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try await read(on: operatorReader, body)
    }

    /// The same for what may look through the whole queue, so that the engine never waits for it.
    func search<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try await read(on: searchReader, body)
    }

    private func read<T: Sendable>(
        on reader: DatabaseQueue, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        underWay.add(1, ordering: .relaxed)
        let result: Result<T, StoreError> = await withCheckedContinuation { continuation in
            reader.asyncUnsafeRead { access in
                continuation.resume(returning: self.answer(access, body))
                self.underWay.subtract(1, ordering: .releasing)
            }
        }
        return try result.get()
    }

    private func answer<T>(
        _ access: Result<Database, any Error>, _ body: (Transaction) throws -> T
    ) -> Result<T, StoreError> {
        do {
            let db = try access.get()
            return .success(try db.transaction(.deferred) { try body(transaction(db)) })
        } catch {
            return .failure(StoreError(error))
        }
    }

    func commit<T>(
        _ db: Database, inBudget: Bool, _ body: (Transaction) throws -> T
    ) -> Result<T, StoreError> {
        let result = attempt(db, body)
        guard case .failure(.overBudget) = result, !inBudget, let budget else { return result }
        _ = makeRoom(db)
        guard (try? budget.lend(db)) != nil else { return result }
        // Where it cannot be taken back, the reserve is open until the next start.
        defer { try? budget.hold(db) }
        return attempt(db, body)
    }

    private func attempt<T>(
        _ db: Database, _ body: (Transaction) throws -> T
    ) -> Result<T, StoreError> {
        let transaction = transaction(db, tables: catalog.writer)
        var isMade = false
        do {
            let value = try db.transaction(.immediate) {
                let value = try body(transaction)
                try transaction.flush()
                assert((try? transaction.ledger.read().balances) ?? true, "the ledger must balance")
                isMade = true
                return value
            }
            announce(transaction.effects)
            return .success(value)
        } catch {
            return .failure(failure(error, isMade: isMade))
        }
    }

    /// Why a transaction was not committed. A budget's end shows while the transaction is made, when it
    /// asks for another page; that the disk is full shows when it is written.
    /// - Parameter isMade: everything was done but the commit.
    func failure(_ error: any Error, isMade: Bool) -> StoreError {
        let failure = StoreError(error)
        guard case .full = failure, budget != nil, !isMade else { return failure }
        return .overBudget("The store's disk budget is used up.")
    }

    /// A transaction of this store on an open connection.
    /// - Parameter tables: what is remembered of the tables as they are committed; only the writer knows
    ///   that no other transaction commits meanwhile.
    func transaction(_ db: Database, tables: TableCatalog? = nil) -> Transaction {
        let transaction = Transaction(
            db: db, identity: identity, now: clock.now(), ids: ids, tablesInMemory: tables,
            effects: TransactionEffects())
        #if DEBUG
            transaction.planted = planted.withLock { $0 }
        #endif
        return transaction
    }

    /// Tells the listeners what a commit changed.
    func announce(_ effects: TransactionEffects) {
        if effects.changedTables { catalog.forget() }
        let listeners = listeners.withLock { $0 }
        if !effects.events.isEmpty { listeners.onEvents(effects.events) }
        if effects.madeWork { listeners.onWrite() }
    }
}
