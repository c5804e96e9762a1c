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
    /// For the operator's lists and the engine.
    let operatorReader: ConnectionQueue
    /// For lists that may look through the whole queue.
    let searchReader: ConnectionQueue
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
            operatorReader = try ConnectionQueue.storeReader(path, accesses: underWay)
            searchReader = try ConnectionQueue.storeReader(path, accesses: underWay)
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

/// A page of a list.
public struct Page<Element: Sendable>: Sendable {
    public var items: [Element]
    /// Cursor for `after`; null at the end.
    public var next: String?
    /// All elements that match, not only this page's.
    public var total: Int

    public init(items: [Element], next: String?, total: Int) {
        (self.items, self.next, self.total) = (items, next, total)
    }

    /// A list without a further page.
    public init(_ items: [Element]) {
        self.init(items: items, next: nil, total: items.count)
    }
}

extension Page: Codable where Element: Codable {}
extension Page: Equatable where Element: Equatable {}
extension Page: Hashable where Element: Hashable {}

/// The opaque text that names a place in a list: the number of its last element.
public enum Cursor {
    public static func isCursor(_ text: String) -> Bool { number(text) != nil }

    static func text(_ number: Int64) -> String { "c" + String(number, radix: radix) }

    /// The number in a text; nil for anything that ``text(_:)`` did not make.
    static func number(_ text: String) -> Int64? {
        guard text.first == "c", let number = Int64(text.dropFirst(), radix: radix),
            self.text(number) == text
        else { return nil }
        return number
    }

    static let radix = 36
}

// The operator's lists. `after` is the `next` of the page before; see ``Cursor/isCursor(_:)``.
extension Store {
    /// A page of operations. In the order of the queue: after a cursor, after the first `skip` from there,
    /// or both. In another order after the first `skip`; it has no cursor.
    public func operations(
        _ filter: OperationFilter, sorted order: OperationOrder = .queue, after: String? = nil,
        skip: Int = 0, limit: Int
    ) async throws(StoreError) -> Page<OperationSummary> {
        try await search { transaction in
            let page = try OperationLists(transaction: transaction).page(
                filter, sorted: order, after: after.flatMap(Cursor.number) ?? 0, skip: skip,
                limit: Self.bounded(limit))
            return Page(
                items: page.items.map { $0.summary(identity: transaction.identity) },
                next: page.next, total: page.total)
        }
    }

    /// What matches, by state, status and cause: "37 fail for one reason". The most frequent come first;
    /// `total` counts all groups.
    public func operationGroups(
        _ filter: OperationFilter, limit: Int
    ) async throws(StoreError) -> Page<OperationGroup> {
        try await search {
            try OperationLists(transaction: $0).groups(filter, limit: Self.bounded(limit))
        }
    }

    /// Where these operations are now, counted by state, status and cause.
    public func outcomes(
        of ids: [OperationID]
    ) async throws(StoreError) -> [OperationOutcome] {
        try await read { try OperationLists(transaction: $0).outcomes(of: ids) }
    }

    public func operation(_ id: OperationID) async throws(StoreError) -> OperationDetail? {
        try await read { transaction in
            try transaction.queue.operation(id: id).map {
                try OperationLists(transaction: transaction).detail($0)
            }
        }
    }

    /// A page of the conflicts that match, oldest first. The filter's states do not count.
    public func conflicts(
        _ filter: OperationFilter = OperationFilter(), after: String?, limit: Int
    ) async throws(StoreError) -> Page<ConflictDetail> {
        try await read {
            try ConflictList(transaction: $0).page(
                filter, after: after.flatMap(Cursor.number) ?? 0, limit: Self.bounded(limit))
        }
    }

    /// One conflict; nil when the operation is in none.
    public func conflict(_ id: OperationID) async throws(StoreError) -> ConflictDetail? {
        try await read { transaction in
            try transaction.queue.operation(id: id).flatMap {
                try ConflictList(transaction: transaction).detail($0)
            }
        }
    }

    /// A page of the rows of a table that are not here, since they cannot be taken; nil when there is no
    /// such table.
    public func setAsideRows(
        of name: TableName, after: String?, limit: Int
    ) async throws(StoreError) -> Page<SetAsideRow>? {
        try await read { transaction in
            guard let table = try transaction.tables.table(name) else { return nil }
            let limit = Self.bounded(limit)
            let rows = try transaction.setAsideRows.page(
                of: table, after: after ?? "", limit: limit)
            return Page(
                items: rows.map(\.row), next: rows.count == limit ? rows.last?.name : nil,
                total: try transaction.setAsideRows.count(of: table.id))
        }
    }

    /// A page of runs, latest first.
    public func runs(after: String?, limit: Int) async throws(StoreError) -> Page<Run> {
        try await read { transaction in
            let limit = Self.bounded(limit)
            let found = try transaction.runs.page(
                before: after.flatMap(Cursor.number) ?? .max, limit: limit + 1)
            let page = found.prefix(limit)
            let total = try transaction.integer("SELECT count(*) FROM runs") ?? 0
            return Page(
                items: page.map(\.run),
                next: found.count > limit ? page.last.map { Cursor.text($0.seq) } : nil,
                total: Int(total))
        }
    }

    public func run(_ id: String) async throws(StoreError) -> Run? {
        try await read { try $0.runs.run(id: id) }
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

    /// The events after one, or the word that it is too old.
    public func events(after id: Int64, limit: Int) async throws(StoreError) -> EventBatch {
        try await read { try $0.events.after(after: id, limit: Self.bounded(limit)) }
    }

    static func bounded(_ limit: Int) -> Int {
        min(max(limit, 1), StoreLimits.operatorPage)
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
