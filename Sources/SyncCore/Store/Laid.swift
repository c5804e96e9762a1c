public import TablesProtocol

// Signatures first; each moves to the file of its concern with its body.

/// How far an incremental pull has come.
struct PullToken: Sendable, Hashable {
    var rowID: Int64
    var updatedAt: String?
    var lastID: String?
    var isComplete: Bool
    var lastRunAt: Instant?
}

/// What a row of the backend did to the store.
enum AppliedRow: Sendable, Hashable {
    case inserted, updated, deleted
    /// Already as the backend says.
    case unchanged
    /// The item has local changes; the row is kept beside them.
    case shadowed
    /// A push outcome was committed after the request began, so the row may be older than ours.
    case skipped
}

/// A table's settings.
struct TableRecord: Sendable, Hashable {
    var id: Int64
    var name: TableName
    var idKind: IDKind
    var isComplete: Bool
    var readPolicy: ReadPolicy
    var writePolicy: WritePolicy
    var conflictPolicy: ConflictPolicy
    var unconditionalPolicy: ConflictPolicy
    var isPublic: Bool
    var paging: Paging
    var spellings: [String: String]
    var lastPullAt: Instant?
    var warning: String?
}

extension Transaction {
    // Tables
    func table(_ name: TableName) throws -> TableRecord? { preconditionFailure() }
    func tables() throws -> [TableRecord] { preconditionFailure() }
    func makeTable(_ name: TableName, idKind: IDKind = .string) throws -> TableRecord { preconditionFailure() }
    /// Writes everything but the id and name.
    func save(_ table: TableRecord) throws { preconditionFailure() }

    // Queue
    /// The highest seq given so far: where a push that starts now ends.
    func bookend() throws -> Int64 { preconditionFailure() }
    /// Operations that may be sent now, in order, after one seq and up to the bookend. Waiting ones count when
    /// their time has come, unknown ones too (to be read back); successors do not.
    func due(after seq: Int64, upTo bookend: Int64, tables: Set<Int64>? = nil, limit: Int) throws -> [TableOperation] { preconditionFailure() }
    /// When the next waiting or unknown operation is due; nil when none waits. Queued ones are due at once: see ``hasQueued()``.
    func earliestAttempt() throws -> Instant? { preconditionFailure() }
    func hasQueued() throws -> Bool { preconditionFailure() }
    func operation(seq: Int64) throws -> TableOperation? { preconditionFailure() }
    func operation(id: OperationID) throws -> TableOperation? { preconditionFailure() }
    /// Makes every waiting and unknown operation due.
    func makeAllDue() throws { preconditionFailure() }
    /// State sending, attempts + 1, attempt row; nil when it changed since (other revision, other state): leave it.
    func markSending(_ operation: TableOperation, _ attempt: AttemptStart) throws -> TableOperation? { preconditionFailure() }
    func setHighestID(_ id: Int64, of seq: Int64) throws { preconditionFailure() }
    /// One transaction's outcome: operation, attempt, row, base, successor, history, events. Returns its state.
    @discardableResult
    func settle(_ seq: Int64, _ outcome: SettledOutcome, attempt: AttemptEnd?) throws -> OperationState { preconditionFailure() }
    /// Gives an item of an integer table the id that the backend assigned, everywhere.
    func remap(_ operation: TableOperation, to id: ItemID) throws { preconditionFailure() }
    /// What is on its way after a restart becomes unknown.
    func recover() throws { preconditionFailure() }
    func queueCounts() throws -> QueueCounts { preconditionFailure() }

    // Items
    /// The counter of committed push outcomes: read before a page is asked for, given to ``apply``.
    func changeCount() throws -> Int64 { preconditionFailure() }
    func apply(_ row: RemoteRow, to table: TableRecord, asOf change: Int64) throws -> AppliedRow { preconditionFailure() }
    /// The local item as shown, also a tombstone.
    func item(_ table: TableRecord, _ id: ItemID) throws -> Item? { preconditionFailure() }
    /// Removes clean items that match (reconcile, purge). With a tombstone, or without one (purge).
    func remove(_ id: ItemID, from table: TableRecord, leavingTombstone: Bool) throws -> Bool { preconditionFailure() }

    // Tokens
    func token(_ table: TableRecord, queryID: String, filterHash: String) throws -> PullToken { preconditionFailure() }
    func save(_ token: PullToken) throws { preconditionFailure() }
    func removeTokens(of table: TableRecord, queryID: String?) throws { preconditionFailure() }

    // History
    func record(_ kind: HistoryEntry.Kind, actor: Actor, table: TableRecord?, item: ItemID?, operation: OperationID?,
        before: Columns?, after: Columns?, summary: String, undoable: Bool) throws -> Int64 { preconditionFailure() }
    func emit(_ kind: Event.Kind, table: TableName? = nil, item: ItemID? = nil, operation: OperationID? = nil) throws { preconditionFailure() }
    func save(_ run: Run) throws { preconditionFailure() }
    func save(_ sample: Sample) throws { preconditionFailure() }
    /// Removes what is kept no longer, a bounded number of rows; true when more is left.
    func sweep() throws -> Bool { preconditionFailure() }
}

/// The durable state of one identity: items, queue, history.
public final class Store: Sendable {
    /// Whose it is.
    public let identity: String

    /// Opens or makes the store at a path.
    /// - Parameters:
    ///   - tables: the only tables that writes may make; nil for any.
    ///   - strictSDK: refuse what the SDKs refuse in their queue.
    public init(at path: String, identity: String, clock: any StoreClock, ids: any IDSource, workers: Int,
        tables: Set<TableName>? = nil, strictSDK: Bool = false) throws(StoreError) { preconditionFailure() }

    /// Called after every commit that may have made work for the engine. Set once.
    public func onWrite(_ action: @escaping @Sendable () -> Void) { preconditionFailure() }
    /// Called after every commit with its events. Set once.
    public func onEvents(_ action: @escaping @Sendable ([Event]) -> Void) { preconditionFailure() }

    @available(*, noasync) public func list(_ table: TableName, _ query: TableQuery, generation: Generation, worker: Int) -> ListOutcome { preconditionFailure() }
    /// As ``list``, on a connection of its own and without the short budget; for a thread that may take its time.
    @available(*, noasync) public func listUnhurried(_ table: TableName, _ query: TableQuery, generation: Generation) -> ListOutcome { preconditionFailure() }
    @available(*, noasync) public func get(_ table: TableName, _ id: ItemID, includeDeleted: Bool, worker: Int) -> GetOutcome { preconditionFailure() }
    /// What is known of a table, from memory.
    @available(*, noasync) public func table(_ name: TableName, worker: Int) -> TableStatus? { preconditionFailure() }
    public func submit(_ write: LocalWrite, completion: @escaping @Sendable (WriteOutcome) -> Void) { preconditionFailure() }
    public func submit(_ write: LocalWrite) async -> WriteOutcome { preconditionFailure() }

    func write<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T { preconditionFailure() }
    func read<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T { preconditionFailure() }

    public func operations(_ filter: OperationFilter, after: String?, limit: Int) async throws(StoreError) -> Page<OperationSummary> { preconditionFailure() }
    public func operation(_ id: OperationID) async throws(StoreError) -> OperationDetail? { preconditionFailure() }
    public func conflicts(after: String?, limit: Int) async throws(StoreError) -> Page<ConflictDetail> { preconditionFailure() }
    public func conflict(_ id: OperationID) async throws(StoreError) -> ConflictDetail? { preconditionFailure() }
    public func history(after: String?, limit: Int) async throws(StoreError) -> Page<HistoryEntry> { preconditionFailure() }
    public func ledger() async throws(StoreError) -> Ledger { preconditionFailure() }
    public func tables() async throws(StoreError) -> [TableStatus] { preconditionFailure() }
    public func runs(after: String?, limit: Int) async throws(StoreError) -> Page<Run> { preconditionFailure() }
    public func run(_ id: String) async throws(StoreError) -> Run? { preconditionFailure() }
    public func events(after id: Int64, limit: Int) async throws(StoreError) -> EventBatch { preconditionFailure() }
    public func samples(since: Instant) async throws(StoreError) -> [Sample] { preconditionFailure() }

    public func retry(_ id: OperationID, revision: Int?) async throws(StoreError) -> ActionOutcome { preconditionFailure() }
    public func discard(_ id: OperationID, revision: Int?) async throws(StoreError) -> ActionOutcome { preconditionFailure() }
    public func edit(_ id: OperationID, revision: Int, columns: Columns) async throws(StoreError) -> ActionOutcome { preconditionFailure() }
    public func resolve(_ id: OperationID, revision: Int, _ resolution: Resolution) async throws(StoreError) -> ActionOutcome { preconditionFailure() }
    public func undo(_ entry: Int64) async throws(StoreError) -> ActionOutcome { preconditionFailure() }
    public func bulk(_ action: BulkAction, _ filter: OperationFilter, dryRun: Bool) async throws(StoreError) -> BulkOutcome { preconditionFailure() }
    /// Changes the policies and flags of a table, making it when new.
    public func updateTable(_ name: TableName, _ change: @escaping @Sendable (inout TableStatus) -> Void) async throws(StoreError) -> TableStatus { preconditionFailure() }

    /// Writes a whole, consistent copy to a path that does not exist yet.
    public func backup(to path: String) async throws(StoreError) { preconditionFailure() }
    /// SQLite's integrity check and the ledger; empty when all is well.
    public func check() async throws(StoreError) -> [String] { preconditionFailure() }
    /// Closes the readers; they open again when needed.
    public func closeReaders() { preconditionFailure() }
    /// Waits for what is being written and closes.
    public func close() throws(StoreError) { preconditionFailure() }
}
