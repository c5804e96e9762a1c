package import Storage
import Synchronization
public import TablesProtocol

/// The durable state of one identity: items, queue and history, in one SQLite file.
///
/// Reads run on the calling thread, each server worker on a connection of its own. Writes go through
/// one connection in groups that share a commit; an acknowledged write is on disk.
public final class Store: Sendable {
    public let identity: String
    public let path: String
    let rules: WriteRules
    let work: StoreWork
    let writer: Writer<StoreWork>
    /// One for each thread that reads.
    let readers: Readers
    let reading: StoreReading
    /// Why indexes could not be built.
    let indexProblems = Mutex<[Int64: String]>([:])
    /// Which lists were slow for want of an index.
    let slowLists = SlowLists()
    let wanted = WantedTables()
    /// The operations that are sent while their clients wait.
    let live = LiveWrites()
    /// Whether a client has written since ``takeUse()`` was asked last.
    let isWritten = Atomic(false)
    /// The policies of tables for which none was chosen, as the engine's settings say. Atomic, since every request
    /// reads it.
    let standard = Atomic(StandardPolicies())
    /// Accesses that were begun and are not over, for a caller that waits for rest.
    let underWay = AccessCount()

    /// The identity of a store of requests without a credential.
    public static let anonymous = "anonymous"

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
        readers = Readers(
            path, functions: ScalarFunction.ofQueries, count: max(workers, 1),
            uptime: { clock.uptime() })
        work = StoreWork(
            identity: identity, clock: clock, ids: ids,
            catalog: TableCatalogs(readers: readers.count), parts: parts)
        do {
            writer = try Writer(
                path, functions: ScalarFunction.ofQueries, migrations: .present,
                budgetBytes: budgetBytes, accesses: underWay, owner: work)
            reading = StoreReading(
                work: work, reader: try .storeReader(path, accesses: underWay),
                searcher: try .storeReader(path, accesses: underWay))
            try writer.writeNow { transaction in
                try TableIndexes(transaction).check()
                try transaction.attempts.recover()
                try transaction.runs.recover()
                if let parts { try transaction.tables.setParts(parts) }
                // So that it is known whether some are public.
                transaction.effects.changedTables = true
            }
        } catch {
            throw StoreError(opening: path, error)
        }
    }

    /// What the operator is shown.
    public var lists: StoreLists { StoreLists(reading: reading) }
    /// Whether the store can be used, and what it takes.
    public var health: StoreHealth { StoreHealth(reading: reading, writer: writer) }
    var clock: any StoreClock { work.clock }
    var catalog: TableCatalogs { work.catalog }

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
        // Each is asked, so that each forgets.
        for reader in catalog.readers { isUsed = reader.takeUse() || isUsed }
        return isUsed
    }

    /// Closes the readers' connections; they open again when needed.
    public func closeReaders() {
        readers.close()
    }

    /// Waits for what is being written and closes the file. Later calls fail.
    public func close() throws(StoreError) {
        closeReaders()
        do {
            try reading.close()
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
        try await reading.read(body)
    }

    /// The same for what may look through the whole queue, so that the engine never waits for it.
    func search<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try await reading.search(body)
    }

    /// The account of every accepted write.
    public func ledger() async throws(StoreError) -> Ledger {
        try await read { try $0.ledger.read() }
    }

    /// Every table, by name.
    public func tables() async throws(StoreError) -> [TableStatus] {
        let (problems, lists) = (indexProblems.withLock { $0 }, slowLists)
        var tables = try await read {
            try TableStatuses(transaction: $0, indexProblems: problems, slowLists: lists).all()
        }
        for table in tables.indices {
            tables[table].standard = standard.load(ordering: .relaxed)
        }
        return tables
    }
}

/// The pattern with which LIKE finds a text anywhere in a value. LIKE compares ASCII letters in any case. It
/// searches a long JSON text four times as fast as `instr(lower(…))`.
enum LikePattern {
    /// The pattern for a text, of which the first ``StoreLimits/searchCharacters`` count. Used with
    /// `ESCAPE '\'`.
    static func containing(_ text: String) -> String {
        var pattern = "%"
        for character in text.prefix(StoreLimits.searchCharacters) {
            if "%_\\".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
        return pattern + "%"
    }
}

extension ConnectionQueue {
    /// A connection that only reads a store.
    static func storeReader(
        _ path: String, accesses: AccessCount = AccessCount()
    ) throws -> ConnectionQueue {
        try reader(path, functions: ScalarFunction.ofQueries, accesses: accesses)
    }

    /// A connection that writes a file which no ``Store`` has open.
    static func storeWriter(_ path: String) throws -> ConnectionQueue {
        try writer(path, functions: ScalarFunction.ofQueries)
    }
}

// What compiled queries hand to SQLite and get from it.

extension SQLValue: StatementValue {
    package var stored: StoredValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .blob(let bytes): .blob(bytes)
        }
    }

    package init(_ row: StatementRow, _ column: Int) { self.init(row.value(column)) }

    init(_ value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .blob(let bytes): .blob(bytes)
            }
    }
}

extension ScalarFunction {
    /// The functions that compiled queries and the lists of operations call, for each connection that runs
    /// them.
    static let ofQueries = ofCompiledQueries + [causeOf]

    private static let ofCompiledQueries = SQLFunction.all.map { function in
        ScalarFunction(function.name, argumentCount: function.argumentCount) { values in
            let call = function.call(values.map(SQLValue.init))
            return Call(call.value.stored, steps: call.steps)
        }
    }
}

extension Migrations {
    /// The schema begins with version 9. No earlier version was released.
    static let present = Migrations(steps: [
        Step(version: 9, sql: String(decoding: PackageResources.Schema_sql, as: UTF8.self))
    ])
}
