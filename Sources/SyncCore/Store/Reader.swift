import GRDB
import Synchronization
import TablesProtocol

/// A read-only connection that is opened when it is first needed.
///
/// One read at a time: the lock stands where GRDB's queue would, and is uncontended as long as each
/// worker has its own reader.
final class Reader: Sendable {
    private struct State {
        var connection: DatabaseQueue?
        /// Queries that stay prepared, by their text.
        var queries: [String: StatementRows] = [:]
        /// ``itemQuery``: to find it by its text costs a good part of what it does.
        var item: StatementRows?
    }
    private let path: String
    private let budget: StatementBudget
    let catalog = TableCatalog()
    private let state = Mutex(State())
    /// Whether a client has read since the store was asked last (``Store/takeUse()``).
    let isUsed = Atomic(false)

    /// - Parameter uptime: a clock that only goes forward, for the time that a read takes.
    init(path: String, uptime: @escaping @Sendable () -> Duration) {
        self.path = path
        budget = StatementBudget(uptime: uptime)
    }

    /// Reads through GRDB, at most about this many steps of SQLite's machine.
    @available(*, noasync)
    func read<T: Sendable>(steps: Int, _ body: (Database) throws -> T) throws -> T {
        try state.withLock { state in
            try opened(&state).unsafeRead { db in
                try budget.within(steps: steps) { try body(db) }
            }
        }
    }

    /// Reads one query on the calling thread, past GRDB, at most about so many steps.
    /// - Parameter isLeft: whether no one wants the rows any more.
    @available(*, noasync)
    func read<T: Sendable>(
        steps: Int, isLeft: @escaping @Sendable () -> Bool, query: String,
        _ body: (StatementRows) throws -> T
    ) throws -> T {
        try state.withLock { state in
            let rows = try prepared(query, &state)
            return try budget.within(steps: steps, isLeft: isLeft) { try body(rows) }
        }
    }

    /// Reads the query of ``StatementRows/item(_:_:idKind:)``, otherwise as one is read.
    @available(*, noasync)
    func readItem<T: Sendable>(
        steps: Int, _ body: (StatementRows) throws -> T
    ) throws -> T {
        try state.withLock { state in
            let rows = try state.item ?? prepared(Self.itemQuery, &state)
            state.item = rows
            return try budget.within(steps: steps) { try body(rows) }
        }
    }

    private static let itemQuery = """
        SELECT id, columns, created_at, stamp, version, deleted,
          (SELECT state FROM operations WHERE seq = items.pending)
        FROM items WHERE table_id = ? AND id = ?
        """

    /// Reads two queries at one moment, otherwise as one is read.
    @available(*, noasync)
    func read<T: Sendable>(
        steps: Int, isLeft: @escaping @Sendable () -> Bool, query: String, and other: String,
        _ body: (StatementRows, StatementRows) throws -> T
    ) throws -> T {
        try state.withLock { state in
            let (first, second) = (try prepared(query, &state), try prepared(other, &state))
            return try opened(&state).unsafeRead { db in
                try budget.within(steps: steps, isLeft: isLeft) {
                    try db.transaction(.deferred) { try body(first, second) }
                }
            }
        }
    }

    /// Closes the connection once nobody reads on it any more.
    func close() {
        state.withLock { $0 = State() }
    }

    /// The rows of a query, kept prepared unless too many different ones came.
    private func prepared(_ query: String, _ state: inout State) throws -> StatementRows {
        if let known = state.queries[query] { return known }
        let made = try opened(&state).unsafeRead { StatementRows(try $0.makeStatement(sql: query)) }
        if state.queries.count < StoreLimits.rememberedQueries { state.queries[query] = made }
        return made
    }

    private func opened(_ state: inout State) throws -> DatabaseQueue {
        if let connection = state.connection { return connection }
        let opened = try Connection.reader(path, budget: budget)
        state.connection = opened
        return opened
    }
}
