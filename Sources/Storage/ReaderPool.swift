import Dispatch
import Synchronization

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
