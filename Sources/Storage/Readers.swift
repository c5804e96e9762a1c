import Dispatch
import Synchronization

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

    /// How many connections there are.
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
