import Storage
import Synchronization
public import TablesProtocol

/// The durable state of one identity: items, queue and history, in one SQLite file.
///
/// Reads run on the calling thread, each server worker on a connection of its own. Writes go through
/// one connection in groups that share a commit; an acknowledged write is on disk.
public final class Store: Sendable {
    /// Whose it is.
    public let identity: String
    /// Where its file is.
    public let path: String
    let rules: WriteRules
    /// What its transactions are.
    let work: StoreWork
    let writer: Writer<StoreWork>
    /// One for each thread that reads.
    let readers: [ClientReader]
    /// For the operator's lists and the engine.
    let operatorReader: ConnectionQueue
    /// For lists that may look through the whole queue.
    let searchReader: ConnectionQueue
    /// Lists that an index would help.
    let costlyLists = CostlyLists()
    /// How far the index is that is being made.
    let indexProgress = IndexProgress()
    let wanted = WantedTables()
    /// Whether a client has written since ``takeUse()`` was asked last.
    let isWritten = Atomic(false)
    /// Accesses that were begun and are not over, for a caller that waits for rest.
    let underWay = AccessCount()

    /// Opens or makes the store at a path. What was being sent when the last process ended becomes
    /// unknown.
    /// - Parameters:
    ///   - workers: how many threads call ``list``, ``listUnhurried`` and ``get``.
    ///   - tables: the only tables that writes may make or change; nil for any.
    ///   - parts: the tables that are copied in part; nil leaves that as the store has it.
    ///   - budgetBytes: how large the file may grow; nil for as large as the disk.
    ///   - strictSDK: refuse what the SDKs' queues refuse.
    public init(
        at path: String, identity: String, clock: any StoreClock, ids: any IDSource, workers: Int,
        tables: Set<TableName>? = nil, parts: [TableName: TablePart]? = nil,
        budgetBytes: Int? = nil, strictSDK: Bool = false
    ) throws(StoreError) {
        self.path = path
        self.identity = identity
        rules = WriteRules(tables: tables, strictSDK: strictSDK)
        readers = (0..<max(workers, 1)).map { _ in
            ClientReader(path: path, uptime: { clock.uptime() })
        }
        work = StoreWork(
            identity: identity, clock: clock, ids: ids,
            catalog: TableCatalogs(readers.map(\.catalog)), parts: parts)
        do {
            writer = try Writer(
                path, functions: ScalarFunction.ofQueries, migrations: .present,
                budgetBytes: budgetBytes, accesses: underWay, owner: work)
            operatorReader = try ConnectionQueue.storeReader(path, accesses: underWay)
            searchReader = try ConnectionQueue.storeReader(path, accesses: underWay)
            try writer.writeNow { transaction in
                try TableIndexes(transaction).renew()
                try transaction.attempts.recover()
                try transaction.runs.recover()
                if let parts { try transaction.tables.setParts(parts) }
            }
        } catch {
            throw StoreError(opening: path, error)
        }
    }

    var clock: any StoreClock { work.clock }
    var ids: any IDSource { work.ids }
    var catalog: TableCatalogs { work.catalog }

    /// A transaction of this store on an open connection.
    func transaction(_ connection: Connection) -> Transaction { work.transaction(connection) }

    /// Sets what is called after every commit that may have made work for the engine.
    public func onWrite(_ action: @escaping @Sendable () -> Void) {
        work.listen { $0.onWrite = action }
    }

    /// Sets what gets the events of every commit.
    public func onEvents(_ action: @escaping @Sendable ([Event]) -> Void) {
        work.listen { $0.onEvents = action }
    }

    /// Sets what gets each operation that a commit left to a person's decision.
    func onDecisionNeeded(_ action: @escaping @Sendable (DecisionNeeded) -> Void) {
        work.listen { $0.onDecisionNeeded = action }
    }

    /// Whether clients have read or written since this was asked last.
    func takeUse() -> Bool {
        var isUsed = isWritten.exchange(false, ordering: .relaxed)
        for reader in readers {
            // Each is asked, so that each forgets.
            isUsed = reader.isUsed.exchange(false, ordering: .relaxed) || isUsed
        }
        return isUsed
    }

    /// Closes the readers' connections; they open again when needed.
    public func closeReaders() {
        for reader in readers { reader.close() }
    }

    /// Waits for what is being written and closes the file. Later calls fail.
    public func close() throws(StoreError) {
        closeReaders()
        do {
            try operatorReader.close()
            try searchReader.close()
            try writer.close()
        } catch {
            throw StoreError(error)
        }
    }
}

extension Store {
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
        on reader: ConnectionQueue, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try Self.value(await reader.read { [work] in try body(work.transaction($0)) })
    }
}
