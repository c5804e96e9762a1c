import Dispatch
import GRDB
import Synchronization

/// A read-only connection with a budget of steps, which is opened when it is first needed.
///
/// One read at a time: the lock is uncontended as long as each thread has its own reader.
package final class Reader: Sendable {
    private let path: String
    private let functions: [ScalarFunction]
    private let budget: StatementBudget
    private let state = Mutex(State())

    private struct State {
        var connection: ConnectionQueue?
        var kept = KeptQueries()
    }

    /// - Parameter uptime: a clock that only goes forward, for the time that a read takes.
    package init(
        path: String, functions: [ScalarFunction], uptime: @escaping @Sendable () -> Duration
    ) {
        self.path = path
        self.functions = functions
        budget = StatementBudget(uptime: uptime)
    }

    /// Reads on the calling thread, at most about so many steps of SQLite's machine for all statements
    /// together, and ``StorageLimits/readMilliseconds``.
    /// - Parameter isAbandoned: whether no caller waits for the answer any more.
    @available(*, noasync)
    package func read<T: Sendable>(
        steps: Int, isAbandoned: @escaping @Sendable () -> Bool = { false },
        _ body: (Connection) throws -> T
    ) throws -> T {
        try state.withLock { state in
            let kept = state.kept
            return try opened(&state).queue.unsafeRead { db in
                try budget.within(steps: steps, isAbandoned: isAbandoned) {
                    try body(Connection(db, kept: kept))
                }
            }
        }
    }

    /// Closes the connection once no caller reads on it any more.
    package func close() {
        state.withLock { $0 = State() }
    }

    private func opened(_ state: inout State) throws -> ConnectionQueue {
        if let connection = state.connection { return connection }
        let opened = try ConnectionQueue.reader(path, functions, budget: budget, AccessCount())
        state.connection = opened
        return opened
    }
}

/// The queries of callers that stay prepared on a connection. Their texts may differ without end, so only
/// the first ones are kept.
final class KeptQueries: Sendable {
    private let texts = Mutex<Set<String>>([])

    /// Whether a query stays prepared.
    func admit(_ text: String) -> Bool {
        texts.withLock { texts in
            if texts.contains(text) { return true }
            guard texts.count < StorageLimits.keptQueries else { return false }
            texts.insert(text)
            return true
        }
    }
}

/// Read-only connections to one file, each lent to one thread at a time and opened when it is first needed.
///
/// An access sees all that was committed before it began.
package final class ReaderPool: Sendable {
    private let path: String
    private let functions: [ScalarFunction]
    private let uptime: @Sendable () -> Duration
    private let idle = Mutex<[ConnectionQueue]>([])
    private let free: DispatchSemaphore

    /// - Parameters:
    ///   - limit: how many connections there are at most.
    ///   - uptime: a clock that only goes forward, for ``Connection/within(steps:milliseconds:_:)``.
    package init(
        _ path: String, functions: [ScalarFunction] = [], limit: Int,
        uptime: @escaping @Sendable () -> Duration
    ) {
        self.path = path
        self.functions = functions
        self.uptime = uptime
        free = DispatchSemaphore(value: limit)
    }

    /// Lends a connection to the body, on the calling thread, which waits while all are lent. The body
    /// leaves no transaction open.
    @available(*, noasync)
    package func access<T>(_ body: (Connection) throws -> T) throws -> T {
        free.wait()
        defer { free.signal() }
        let connection = try idle.withLock { $0.popLast() } ?? opened()
        defer { idle.withLock { $0.append(connection) } }
        return try connection.access(body)
    }

    private func opened() throws -> ConnectionQueue {
        try ConnectionQueue.reader(
            path, functions, budget: StatementBudget(uptime: uptime), AccessCount())
    }
}
