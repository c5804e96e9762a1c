import Storage
import TablesProtocol

/// An open transaction on the store. The caller owns it; nothing in it waits for the network. It runs
/// statements, and leads to the types that own the tables. What is done with several tables is a type of
/// its own (``Settling``, ``Rebase`` and others), made over the transaction.
///
/// A class, so that all these see one time and cost one reference; it is used on one thread only.
///
/// A statement stays prepared on its connection, by its text, unless `keep` is false: for a text that
/// differs from call to call.
final class Transaction: InTransaction {
    let db: Connection
    /// Whose store it is.
    let identity: String
    /// The time of the transaction: the same for everything in it, but for what joined it later.
    var now: Instant
    /// The uptime at its beginning; zero for one that only reads.
    var begunAt = Duration.zero
    let ids: any IDSource
    /// The tables as they are committed, where no other transaction commits; nil for a transaction that must
    /// look itself.
    let tablesInMemory: TableCatalog?
    let effects: TransactionEffects
    /// The tables that are copied in part by the settings; nil where these are not known.
    var parts: [TableName: TablePart]?
    /// What is counted in memory until ``flush()``.
    let deferred = DeferredCounters()
    var transaction: Transaction { self }

    init(
        db: Connection, identity: String, now: Instant, ids: any IDSource,
        tablesInMemory: TableCatalog? = nil, effects: TransactionEffects
    ) {
        self.db = db
        self.identity = identity
        self.now = now
        self.ids = ids
        self.tablesInMemory = tablesInMemory
        self.effects = effects
    }

    /// One that only looks, and belongs to no identity.
    convenience init(lookingInto db: Connection) {
        self.init(
            db: db, identity: "", now: .earliest, ids: SystemIDSource(),
            effects: TransactionEffects())
    }

    /// Writes what was kept in memory: the last that a transaction does before its commit.
    func flush() throws {
        try counters.flush()
        try events.write()
    }
}

/// What works in an open transaction: it runs statements, and reaches the types that own the tables.
protocol InTransaction: StatementRunner {
    var transaction: Transaction { get }
}

extension InTransaction {
    var db: Connection { transaction.db }
    var tables: TableRecords { TableRecords(transaction: transaction) }
    var items: ItemTable { ItemTable(transaction: transaction) }
    var counters: StoreCounters { StoreCounters(transaction: transaction) }
    var queue: OperationQueue { OperationQueue(transaction: transaction) }
    var dueOperations: DueOperations { DueOperations(transaction: transaction) }
    var tableWaits: TableWaits { TableWaits(transaction: transaction) }
    var attempts: AttemptLog { AttemptLog(transaction: transaction) }
    var claims: RowClaims { RowClaims(transaction: transaction) }
    var ledger: LedgerTable { LedgerTable(transaction: transaction) }
    var tokens: PullTokens { PullTokens(transaction: transaction) }
    var setAsideRows: SetAsideRows { SetAsideRows(transaction: transaction) }
    var doubts: PartDoubts { PartDoubts(transaction: transaction) }
    var copyChecks: CopyChecks { CopyChecks(transaction: transaction) }
    var history: HistoryLog { HistoryLog(transaction: transaction) }
    var events: EventLog { EventLog(transaction: transaction) }
    var runs: RunLog { RunLog(transaction: transaction) }
    var samples: SampleLog { SampleLog(transaction: transaction) }
    var binding: BackendBinding { BackendBinding(transaction: transaction) }

    // Steps over several tables.
    var rebase: Rebase { Rebase(transaction: transaction) }
    var discarding: Discarding { Discarding(transaction: transaction) }
    var collapsing: Collapsing { Collapsing(transaction: transaction) }
    var writing: LocalWriting { LocalWriting(transaction: transaction) }
    var writeUndo: WriteUndo { WriteUndo(transaction: transaction) }
    var folding: Folding { Folding(transaction: transaction) }
    var replacedWrites: ReplacedWrites { ReplacedWrites(transaction: transaction) }
    var entryUndo: EntryUndo { EntryUndo(transaction: transaction) }
    var assignedIDs: AssignedIDs { AssignedIDs(transaction: transaction) }
    var actions: OperationActions { OperationActions(transaction: transaction) }
}

/// What has to happen outside once a transaction is committed. Lives and dies with it, on one thread.
final class TransactionEffects {
    var events: [Event] = []
    /// Operations that wait for a person from now on.
    var decisionsNeeded: [DecisionNeeded] = []
    /// Settings or column names of a table changed, so what readers remember is old.
    var changedTables = false
    /// Whether all identities share a table, where ``changedTables``.
    var hasPublicTables = false
    /// There may be something to send.
    var madeWork = false
}
