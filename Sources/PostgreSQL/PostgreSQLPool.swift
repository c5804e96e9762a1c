import Dispatch
import Glibc
import Synchronization

/// Connections to one database, each used by one thread at a time, and threads that wait for it.
public final class PostgreSQLPool: Sendable {
    /// What the lock protects.
    private struct State {
        var idle: [Idle] = []
        var inUse = 0
        var calls = 0
        var time = Duration.zero
    }

    /// How the connections are used.
    public struct Load: Sendable, Hashable {
        /// How many there may be.
        public let limit: Int
        /// How many are lent now.
        public let inUse: Int
        /// How many jobs wait for a thread.
        public let waiting: Int
        /// How often one was lent.
        public let calls: Int
        /// How long they were lent, all together, in seconds.
        public let seconds: Double
    }

    /// A connection that no thread uses.
    ///
    /// `@unchecked Sendable`: the pool hands it to one thread at a time, under its lock.
    private struct Idle: @unchecked Sendable { let connection: PostgreSQLConnection }

    let url: String
    let schema: String
    private let state = Mutex(State())
    private let free: DispatchSemaphore
    private let workers: Workers
    private let limit: Int
    private let lockMilliseconds: Int

    /// How the connections are used now, and were since the start.
    public var load: Load {
        let waiting = workers.waiting
        return state.withLock { state in
            Load(
                limit: limit, inUse: state.inUse, waiting: waiting, calls: state.calls,
                seconds: state.time / .seconds(1))
        }
    }

    /// A pool without a connection yet.
    /// - Parameters:
    ///   - schema: the schema whose tables statements name.
    ///   - connections: how many there may be.
    ///   - lockMilliseconds: how long a statement may wait for a lock.
    /// - Throws: ``PostgreSQLError/badURL(_:)``.
    public init(
        _ url: String, schema: String, connections: Int = Limits.connections,
        lockMilliseconds: Int = Limits.lockMilliseconds
    ) throws(PostgreSQLError) {
        try PostgreSQLConnection.check(url)
        self.url = url
        self.schema = schema
        limit = connections
        self.lockMilliseconds = lockMilliseconds
        free = DispatchSemaphore(value: connections)
        workers = Workers(connections)
    }

    /// What became of work for the pool's threads.
    public enum Submission: Sendable {
        /// A thread takes it now.
        case begins
        /// It waits for a thread.
        case waits
        /// ``Limits/waitingCalls`` wait before it, and it will not be done.
        case refused
    }

    /// The queues for the pool's threads, from what takes a moment to what takes long.
    public enum Lane: Int, Sendable, CaseIterable {
        case brief, list, longList
    }

    /// Puts work in a lane of the pool's threads.
    public func submit(_ lane: Lane, _ work: @escaping @Sendable () -> Void) -> Submission {
        workers.submit(lane, work)
    }

    /// Lends a connection. One that broke is not kept, nor are those that are idle then; nor is one whose
    /// transaction is still open.
    @available(*, noasync)
    public func withConnection<Value>(
        _ body: (PostgreSQLConnection) throws -> Value
    ) throws -> Value {
        let timeout = DispatchTime.now() + .milliseconds(Limits.poolMilliseconds)
        guard free.wait(timeout: timeout) == .success else { throw PostgreSQLError.busy }
        defer { free.signal() }
        let began = ContinuousClock.now
        let idle = state.withLock { state in
            state.inUse += 1
            return state.idle.popLast()
        }
        defer {
            state.withLock { state in
                state.inUse -= 1
                state.calls += 1
                state.time += began.duration(to: .now)
            }
        }
        let connection =
            try idle?.connection
            ?? PostgreSQLConnection(url, schema: schema, lockMilliseconds: lockMilliseconds)
        defer {
            if connection.isBroken {
                // The other connections lead to the same server, which may have restarted.
                dropIdle()
            } else if connection.isIdle {
                let kept = Idle(connection: connection)
                state.withLock { $0.idle.append(kept) }
            }
        }
        return try body(connection)
    }

    /// Holds the thread for a while.
    @available(*, noasync)
    public static func pause(milliseconds: Int) { usleep(UInt32(milliseconds * 1000)) }

    /// Closes the connections that are not in use.
    func dropIdle() { state.withLock { $0.idle = [] } }
}

/// Threads that wait for the server, one for each connection.
///
/// Each is a serial queue: those have threads of their own, where a concurrent queue would block threads of
/// the pool that Swift's tasks run on.
private final class Workers: Sendable {
    private typealias Lane = PostgreSQLPool.Lane
    private typealias Job = @Sendable () -> Void

    private struct State {
        /// The jobs of each lane that wait.
        var waiting = Lane.allCases.map { _ in [Job]() }
        /// How many threads run jobs of each lane.
        var running = Lane.allCases.map { _ in 0 }
        /// How many threads each lane, and those behind it, may have.
        let most: [Int]
        var idle: [DispatchQueue]

        /// Takes the first job of the first lane that has one and may have another thread.
        mutating func next() -> (job: Job, lane: Lane)? {
            for lane in Lane.allCases where !waiting[lane.rawValue].isEmpty && hasThread(lane) {
                running[lane.rawValue] += 1
                return (waiting[lane.rawValue].removeFirst(), lane)
            }
            return nil
        }

        /// Whether a lane may have another thread: so may each lane before it, with those behind.
        func hasThread(_ lane: Lane) -> Bool {
            (0...lane.rawValue).allSatisfy { running[$0...].reduce(0, +) < most[$0] }
        }
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        let queues = (0..<count).map { DispatchQueue(label: "understudy.postgresql.\($0)") }
        let most = Lane.allCases.map { Limits.threads(of: $0, connections: count) }
        state = Mutex(State(most: most, idle: queues))
    }

    /// How many jobs no thread has taken yet.
    var waiting: Int { state.withLock { $0.waiting.map(\.count).reduce(0, +) } }

    func submit(
        _ lane: PostgreSQLPool.Lane, _ job: @escaping @Sendable () -> Void
    ) -> PostgreSQLPool.Submission {
        let (submission, queue) = state.withLock {
            state -> (PostgreSQLPool.Submission, DispatchQueue?) in
            if state.hasThread(lane), let queue = state.idle.popLast() {
                state.running[lane.rawValue] += 1
                return (.begins, queue)
            }
            guard state.waiting[lane.rawValue].count < Limits.waitingCalls else {
                return (.refused, nil)
            }
            state.waiting[lane.rawValue].append(job)
            return (.waits, nil)
        }
        if let queue { queue.async { self.run(job, lane, on: queue) } }
        return submission
    }

    /// Runs a job and then those that wait, and makes the queue idle afterwards. So no job waits that may
    /// have an idle thread.
    private func run(_ first: @escaping Job, _ lane: Lane, on queue: DispatchQueue) {
        var next: (job: Job, lane: Lane)? = (first, lane)
        while let current = next {
            current.job()
            next = state.withLock { state in
                state.running[current.lane.rawValue] -= 1
                let next = state.next()
                if next == nil { state.idle.append(queue) }
                return next
            }
        }
    }
}

extension PostgreSQLPool {
    /// How the statements of a transaction see others.
    public enum Isolation: Sendable {
        /// Each statement sees what was committed before it.
        case readCommitted
        /// All statements see one moment, and none writes.
        case oneMoment

        fileprivate var begin: String {
            switch self {
            case .readCommitted: "BEGIN"
            case .oneMoment: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
        }
    }

    /// What a transaction leaves.
    public enum End<Value> {
        case commit(Value)
        case rollBack(Value)
    }

    /// Runs something that may be repeated: statements that read, or one transaction.
    ///
    /// It begins anew where the server gave it up in favour of another transaction, and where the
    /// connection was lost, until a server answers again or ``Limits/reconnectMilliseconds`` are over.
    @available(*, noasync)
    public func retrying<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        let deadline = PostgreSQLConnection.milliseconds + Int64(Limits.reconnectMilliseconds)
        var attempts = 0
        while true {
            do {
                return try withConnection(body)
            } catch let error as PostgreSQLError {
                if error.isSerializationFailure {
                    attempts += 1
                    guard attempts < Limits.serializationAttempts else { throw error }
                } else {
                    guard error.isLostConnection, PostgreSQLConnection.milliseconds < deadline
                    else { throw error }
                    // The other connections lead to the same server.
                    dropIdle()
                    Self.pause(milliseconds: Limits.reconnectPauseMilliseconds)
                }
            }
        }
    }

    /// Runs a transaction that reads only.
    /// - Parameter milliseconds: how long each of its statements may take; nil for the connection's own time.
    @available(*, noasync)
    public func inReadTransaction<Value>(
        milliseconds: Int? = nil, _ body: (PostgreSQLConnection) throws -> Value
    ) throws -> Value {
        try retrying { connection in
            try connection.transaction(.oneMoment, milliseconds: milliseconds) {
                .commit(try body(connection))
            }
        }
    }
}

extension PostgreSQLConnection {
    /// Runs one transaction. What throws is rolled back. Where that is refused, the pool does not keep the
    /// connection.
    /// - Parameters:
    ///   - milliseconds: how long each of its statements may take; nil for the connection's own time.
    ///   - isLong: whether its statements may take, and wait for locks, as long as they need.
    ///   - beforeCommit: called when nothing is left but to commit.
    @available(*, noasync)
    public func transaction<Value>(
        _ isolation: PostgreSQLPool.Isolation, milliseconds: Int? = nil, isLong: Bool = false,
        beforeCommit: () -> Void = {}, _ body: () throws -> PostgreSQLPool.End<Value>
    ) throws -> Value {
        let time = milliseconds.map { "; SET LOCAL statement_timeout = \($0)" } ?? ""
        try run(script: isolation.begin + time)
        defer { restoreTimeouts() }
        let end: PostgreSQLPool.End<Value>
        do {
            if isLong { try liftTimeouts() }
            end = try body()
        } catch {
            if !isBroken { try? run(script: "ROLLBACK") }
            throw error
        }
        switch end {
        case .commit(let value):
            beforeCommit()
            try run(script: "COMMIT")
            return value
        case .rollBack(let value):
            try run(script: "ROLLBACK")
            return value
        }
    }
}
