import Dispatch
import GRDB
import Synchronization
public import TablesProtocol

/// The durable state of one identity: items, queue and history, in one SQLite file.
///
/// Reads run on the calling thread, each server worker on a connection of its own. Writes go through
/// one connection in groups that share a commit; an acknowledged write is on disk.
public final class Store: Sendable {
    /// Whose it is.
    public let identity: String
    let path: String
    let rules: WriteRules
    let clock: any StoreClock
    let ids: any IDSource
    let writer: DatabaseQueue
    /// How long the writer's log is.
    let log = LogLength()
    /// How long it was when it was last copied into the file.
    let copiedPages = Atomic(0)
    #if DEBUG
        /// The bug that the simulator has given it.
        let planted = Mutex<ProductBug?>(nil)
    #endif
    /// How large the file may grow; nil for as large as the disk.
    let budget: DiskBudget?
    /// One for each server worker.
    let readers: [Reader]
    /// For reads that may take their time.
    let unhurried: Reader
    /// For the operator's lists and the engine.
    let operatorReader: DatabaseQueue
    /// For lists that may look through the whole queue.
    let searchReader: DatabaseQueue
    /// What is remembered of the tables, for each reader apart.
    let catalog: TableCatalogs
    /// Lists that an index would help.
    let costlyLists = CostlyLists()
    /// How far the index is that is being made.
    let indexProgress = IndexProgress()
    let waiting = Mutex(WaitingWrites())
    let wanted = WantedTables()
    /// Answers clients while the next group is committed.
    let answering = DispatchQueue(label: "understudy.answering")
    /// Whether a client has written since ``takeUse()`` was asked last.
    let isWritten = Atomic(false)
    /// Accesses that were begun and are not over, for callers that wait until nothing is under way.
    let underWay = Atomic(0)
    let listeners = Mutex(Listeners())

    /// What is called after a commit.
    struct Listeners {
        var onWrite: @Sendable () -> Void = {}
        var onEvents: @Sendable ([Event]) -> Void = { _ in }
    }

    /// Opens or makes the store at a path. What was being sent when the last process ended becomes
    /// unknown.
    /// - Parameters:
    ///   - workers: how many threads call ``list`` and ``get``.
    ///   - tables: the only tables that writes may make or change; nil for any.
    ///   - budgetBytes: how large the file may grow; nil for as large as the disk.
    ///   - strictSDK: refuse what the SDKs' queues refuse.
    public init(
        at path: String, identity: String, clock: any StoreClock, ids: any IDSource, workers: Int,
        tables: Set<TableName>? = nil, budgetBytes: Int? = nil, strictSDK: Bool = false
    ) throws(StoreError) {
        self.path = path
        self.identity = identity
        self.clock = clock
        self.ids = ids
        rules = WriteRules(tables: tables, strictSDK: strictSDK)
        let writer = try Connection.writer(path, log: log)
        self.writer = writer
        readers = (0..<max(workers, 1)).map { _ in Reader(path: path) }
        unhurried = Reader(path: path)
        catalog = TableCatalogs(readers.map(\.catalog) + [unhurried.catalog])
        do {
            try Migrations.present.run(on: writer)
            operatorReader = try Connection.reader(path, budget: nil)
            searchReader = try Connection.reader(path, budget: nil)
            budget = try budgetBytes.map { bytes in
                try writer.writeWithoutTransaction { try DiskBudget(bytes: bytes, $0) }
            }
            try writer.write { db in
                let transaction = Transaction(
                    db: db, identity: identity, now: clock.now(), ids: ids,
                    effects: TransactionEffects())
                try transaction.attempts.recover()
                try transaction.runs.recover()
                try transaction.flush()
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Sets what is called after every commit that may have made work for the engine.
    public func onWrite(_ action: @escaping @Sendable () -> Void) {
        listeners.withLock { $0.onWrite = action }
    }

    /// Sets what gets the events of every commit.
    public func onEvents(_ action: @escaping @Sendable ([Event]) -> Void) {
        listeners.withLock { $0.onEvents = action }
    }

    /// Whether clients have read or written since this was asked last.
    func takeUse() -> Bool {
        var isUsed = isWritten.exchange(false, ordering: .relaxed)
        for reader in readers + [unhurried] {
            // Each is asked, so that each forgets.
            isUsed = reader.isUsed.exchange(false, ordering: .relaxed) || isUsed
        }
        return isUsed
    }

    /// Closes the readers' connections; they open again when needed.
    public func closeReaders() {
        for reader in readers { reader.close() }
        unhurried.close()
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
