import Synchronization

/// Counts how the connections to a file are used.
final class ConnectionMeter: Sendable {
    /// One use of a connection, from when it is asked for until it is given back.
    struct Use {
        /// Nil while it waits.
        fileprivate var lentAt: Duration?
    }

    private struct State {
        var waiting = 0
        var inUse = 0
        var calls = 0
        var time = Duration.zero
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: how many connections there are at most.
    init(limit: Int) { self.limit = limit }

    /// The use of the connections now and since the start.
    var load: StorageLoad {
        state.withLock { state in
            StorageLoad(
                limit: limit, inUse: state.inUse, waiting: state.waiting, calls: state.calls,
                seconds: state.time / .seconds(1))
        }
    }

    /// A connection is asked for.
    func ask() -> Use {
        state.withLock { $0.waiting += 1 }
        return Use()
    }

    /// The connection was lent.
    func lend(_ use: inout Use) {
        use.lentAt = Uptime.now
        state.withLock { state in
            state.waiting -= 1
            state.inUse += 1
        }
    }

    /// It is given back, or could not be had.
    func end(_ use: Use) {
        let now = Uptime.now
        state.withLock { state in
            guard let lentAt = use.lentAt else {
                state.waiting -= 1
                return
            }
            state.inUse -= 1
            state.calls += 1
            state.time += now - lentAt
        }
    }
}
