import CSQLite
import Dispatch
import GRDB
import Synchronization

/// One connection to a SQLite file, which is lent to one access after another.
package final class ConnectionQueue: Sendable {
    let queue: DatabaseQueue
    private let accesses: AccessCount
    /// Held for SQLite, which writes to it.
    private let log: LogLength?
    /// Held for SQLite, which asks it; nil where reads have no budget.
    private let budget: StatementBudget?
    private let kept = KeptQueries()

    private init(
        _ queue: DatabaseQueue, _ accesses: AccessCount, log: LogLength? = nil,
        budget: StatementBudget? = nil
    ) {
        self.queue = queue
        self.accesses = accesses
        self.log = log
        self.budget = budget
    }

    /// Lends the connection to the body, on the calling thread. The body leaves no transaction open.
    @available(*, noasync)
    package func access<T>(_ body: (Connection) throws -> T) rethrows -> T {
        try queue.unsafeRead { try body(Connection($0, kept: kept, budget: budget)) }
    }

    /// Lends the connection to the body within a transaction, on the calling thread.
    @available(*, noasync)
    package func transaction<T>(
        _ beginning: Connection.Beginning, _ body: (Connection) throws -> T
    ) throws -> T {
        try access { connection in try connection.transaction(beginning) { try body(connection) } }
    }

    /// Lends the connection to the body, in turn, on the connection's thread. The body leaves no
    /// transaction open.
    package func schedule(_ body: @escaping @Sendable (Connection) -> Void) {
        accesses.begin()
        queue.asyncWriteWithoutTransaction { [accesses] database in
            body(Connection(database))
            accesses.end()
        }
    }

    /// Reads in one transaction, in turn.
    package func read<T: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async -> Result<T, any Error> {
        await withCheckedContinuation { continuation in
            schedule { connection in
                continuation.resume(
                    returning: Result {
                        try connection.transaction(.deferred) { try body(connection) }
                    })
            }
        }
    }

    /// Waits for the access that is under way and closes the connection. Later accesses fail.
    package func close() throws { try queue.close() }
}

// How connections are opened.
extension ConnectionQueue {
    /// A connection that writes. A commit is on disk before it returns.
    ///
    /// No other connection copies the log into the file: SQLite before 3.51.3 may damage the file where
    /// one does while another begins the log anew (sqlite.org/wal.html, "The WAL-reset bug").
    package static func writer(
        _ path: String, functions: [ScalarFunction] = []
    ) throws -> ConnectionQueue {
        try writer(path, functions, log: nil, AccessCount())
    }

    /// - Parameter log: knows how long the log is after each commit; without it SQLite copies the log by
    ///   itself.
    static func writer(
        _ path: String, _ functions: [ScalarFunction], log: LogLength?, _ accesses: AccessCount
    ) throws -> ConnectionQueue {
        // Only the owner reads it; SQLite gives its side files the same mode.
        try DatabaseFiles.make(path)
        let queue = try DatabaseQueue(path: path, configuration: configuration(functions))
        try queue.writeWithoutTransaction { db in
            // GRDB's own way to set the journal mode makes a table, for which a full disk has no room.
            let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA cache_size = -\(StorageLimits.writerCacheKiB)")
            try db.execute(sql: "PRAGMA journal_size_limit = \(StorageLimits.logBytes)")
            // A savepoint keeps the pages that it changes to take them back. In a file that would fail, and
            // the write with it, where the process has no descriptor left.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            log?.follow(db)
            let synchronous = try Int.fetchOne(db, sql: "PRAGMA synchronous")
            guard journal == "wal", synchronous == 2 else {
                throw StorageError.noFullSynchronisation(path: path)
            }
        }
        return ConnectionQueue(queue, accesses, log: log)
    }

    /// A connection that only reads. Read-only: it cannot copy the log into the file, neither while it is
    /// in use nor when it is closed.
    package static func reader(
        _ path: String, functions: [ScalarFunction] = [], accesses: AccessCount = AccessCount()
    ) throws -> ConnectionQueue {
        try reader(path, functions, budget: nil, accesses)
    }

    /// - Parameter budget: bounds reads; nil for none.
    static func reader(
        _ path: String, _ functions: [ScalarFunction], budget: StatementBudget?,
        _ accesses: AccessCount
    ) throws -> ConnectionQueue {
        var configuration = configuration(functions, spending: budget)
        configuration.readonly = true
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            if budget != nil {
                try db.execute(sql: "PRAGMA cache_size = -\(StorageLimits.readerCacheKiB)")
            }
        }
        return ConnectionQueue(
            try DatabaseQueue(path: path, configuration: configuration), accesses, budget: budget)
    }

    /// A database in memory, empty.
    /// - Parameter uptime: a clock that only goes forward, for
    ///   ``Connection/within(steps:milliseconds:isAbandoned:_:)``; nil for a connection that nothing bounds.
    package static func inMemory(
        functions: [ScalarFunction] = [], uptime: (@Sendable () -> Duration)? = nil
    ) throws -> ConnectionQueue {
        let budget = uptime.map { StatementBudget(uptime: $0) }
        let queue = try DatabaseQueue(configuration: configuration(functions, spending: budget))
        return ConnectionQueue(queue, AccessCount(), budget: budget)
    }

    /// An empty database in a file without a name, which SQLite makes in the folder for temporary files
    /// and which is gone with the connection, also where the process ends.
    /// - Parameter uptime: as for ``inMemory(functions:uptime:)``.
    package static func temporary(
        functions: [ScalarFunction], uptime: (@Sendable () -> Duration)? = nil
    ) throws -> ConnectionQueue {
        let budget = uptime.map { StatementBudget(uptime: $0) }
        let queue = try DatabaseQueue(
            path: "", configuration: configuration(functions, spending: budget))
        return ConnectionQueue(queue, AccessCount(), budget: budget)
    }

    /// Before the process opens its first connection: SQLite does not count the memory that it takes. It would
    /// count under a lock that all connections share, several times in each statement.
    private static let withoutMemoryStatistics: Void = understudy_sqlite_without_memory_statistics()

    private static func configuration(
        _ functions: [ScalarFunction], spending budget: StatementBudget? = nil
    ) -> Configuration {
        _ = Self.withoutMemoryStatistics
        var configuration = Configuration()
        configuration.busyMode = .timeout(StorageLimits.busySeconds)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            for function in functions { db.add(function: function.registered(spending: budget)) }
            budget?.install(on: db)
        }
        return configuration
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

/// Accesses that were begun and are not over, for a caller that waits for rest.
package final class AccessCount: Sendable {
    private let underWay = Atomic(0)

    /// Makes a count of 0.
    package init() {}

    package var count: Int { underWay.load(ordering: .acquiring) }

    package func begin() { underWay.add(1, ordering: .relaxed) }

    package func end() { underWay.subtract(1, ordering: .releasing) }
}

/// Read-only connections to one file. Each opens when it is first needed.
///
/// A thread that reads all the time has one of its own, by its number, so that threads share nothing. Other
/// threads borrow any that is free. An access sees all that was committed before it began.
package final class Readers: Sendable {
    /// One connection; nil while it is closed. Each is an object of its own, so that two threads do not
    /// share cache lines.
    private final class Place: Sendable {
        let connection = Mutex<ConnectionQueue?>(nil)
    }
    private let places: [Place]
    private let open: @Sendable () throws -> ConnectionQueue
    private let idle: Mutex<[Int]>
    private let free: DispatchSemaphore

    /// - Parameters:
    ///   - count: how many connections there are.
    ///   - uptime: a clock that only goes forward, for
    ///     ``Connection/within(steps:milliseconds:isAbandoned:_:)``.
    package init(
        _ path: String, functions: [ScalarFunction] = [], count: Int,
        uptime: @escaping @Sendable () -> Duration
    ) {
        places = (0..<count).map { _ in Place() }
        open = {
            try ConnectionQueue.reader(
                path, functions, budget: StatementBudget(uptime: uptime), AccessCount())
        }
        idle = Mutex(Array(0..<count))
        free = DispatchSemaphore(value: count)
    }

    package var count: Int { places.count }

    /// Lends the connection with a number to the body, on the calling thread, to which it belongs. The body
    /// leaves no transaction open.
    @available(*, noasync)
    package func access<T: Sendable>(
        _ number: Int, _ body: (Connection) throws -> T
    ) throws -> T {
        try places[number].connection.withLock { connection in
            let opened = try connection ?? open()
            connection = opened
            return try opened.access(body)
        }
    }

    /// Lends a connection to the body, on the calling thread, which waits while all are lent. The body leaves
    /// no transaction open.
    @available(*, noasync)
    package func access<T: Sendable>(_ body: (Connection) throws -> T) throws -> T {
        free.wait()
        let number = idle.withLock { $0.removeLast() }
        defer {
            idle.withLock { $0.append(number) }
            free.signal()
        }
        return try access(number, body)
    }

    /// Closes the connections once no caller reads on them. They open again when they are needed.
    package func close() {
        for place in places { place.connection.withLock { $0 = nil } }
    }
}
